import Foundation
import TestSupport
import Testing
import Wire

/// Whatever a bad client does, an innocent subscriber must get every change.
@Suite("Bad clients")
struct BadClientTests {
  private let getState = RawCall.getState

  @Test("a client's event is served before the queued calls of others")
  func eventsFirst() throws {
    let daemon = try RunningDaemon()
    let greedy = try (0..<100).map { _ in try daemon.client() }
    let control = try daemon.client(\.controlSocket)
    // The kernel reports the client that called last after the others.
    for client in [control] + greedy { _ = try client.result("org.keymoded.Controller.GetState") }
    try daemon.whileStopped {
      for client in greedy { client.send(String(repeating: getState, count: 100)) }
      try control.call("org.keymoded.Controller.Trigger", ["event": "shiftPressed"])
    }
    #expect(try control.reply()["parameters"]?["changed"] == true)
    for client in greedy {
      let sequences = try (0..<100).map { _ in
        try client.reply()["parameters"]?["state"]?["sequence"]?.integer
      }
      #expect(sequences == Array(repeating: 1, count: 100))
    }
  }

  @Test("a client that sends many events does not keep other clients waiting")
  func bulk() throws {
    let daemon = try RunningDaemon()
    let greedy = try daemon.client(\.controlSocket)
    let modest = try daemon.client()
    for client in [greedy, modest] { _ = try client.result("org.keymoded.Controller.GetState") }
    try daemon.whileStopped {
      greedy.send(String(repeating: RawCall.shiftPressed, count: 100))
      modest.send(getState)
    }
    let sequence = try #require(
      try modest.reply()["parameters"]?["state"]?["sequence"]?.integer)
    #expect(sequence <= 1024 / Int64(RawCall.shiftPressed.utf8.count) + 1, "a kilobyte at a time")
    let state = try greedy.result("org.keymoded.Controller.GetState")["state"]
    #expect(state?["sequence"] == 100)
  }

  @Test("SIGTERM ends the daemon before queued calls are answered")
  func endsAtOnce() throws {
    let daemon = try RunningDaemon()
    let clients = try (0..<15).map { _ in try daemon.client(\.controlSocket) }
    for client in clients { _ = try client.result("org.keymoded.Controller.GetState") }
    try daemon.whileStopped {
      for client in clients { client.send(String(repeating: getState, count: 100)) }
      daemon.process.terminate()
    }
    daemon.process.waitUntilExit()
    #expect(daemon.process.terminationStatus == 0)
    #expect(try clients.allSatisfy { try $0.message() == nil }, "none of them comes before that")
  }

  @Test("little waits in the kernel for a client that never reads")
  func memory() throws {
    let daemon = try RunningDaemon()
    let silent = try daemon.client()
    silent.send(RawCall.monitor)
    try daemon.change(2000)
    var waiting: Int32 = 0
    #expect(ioctl(silent.descriptor, UInt(FIONREAD), &waiting) == 0)
    #expect(0 < waiting && waiting <= 32_768, "\(waiting)")
  }

  @Test("a subscriber that can receive no more, but stays connected, is let go")
  func deaf() throws {
    let daemon = try RunningDaemon()
    let subscriber = try daemon.subscriber()
    let control = try daemon.client(\.controlSocket)
    func clients() throws -> Int64? {
      try control.result("org.keymoded.Controller.GetStatistics")["clients"]?.integer
    }
    #expect(try clients() == 2)
    // With unread bytes the kernel reports no event for a socket whose peer reads no more.
    try control.trigger(Array(repeating: "shiftPressed", count: 12))
    #expect(shutdown(subscriber.descriptor, Int32(SHUT_RD)) == 0)
    try control.trigger(["shiftPressed"])
    try wait(for: "the end of the subscriber") { try clients() == 1 }
  }

  @Test("new clients are accepted before waiting calls are answered, several at a time")
  func newClients() throws {
    let daemon = try RunningDaemon()
    // As long as all that is answered of a client before others have their turn.
    let call = String(repeating: " ", count: 1024) + RawCall.getState
    let waiting = try (0..<30).map { _ in try daemon.client() }
    // Each is served once, so that it is no new one below.
    for client in waiting { _ = try client.result("org.keymoded.Controller.GetState") }
    var new: [RawClient] = []
    try daemon.whileStopped {
      for client in waiting { client.send(String(repeating: call, count: 6)) }
      new = try (0..<60).map { _ in try daemon.client() }
      for client in new { client.send(RawCall.getState) }
    }
    func time(_ client: RawClient) throws -> Int64 {
      try #require(client.reply()["parameters"]?["state"]?["time"]?.integer)
    }
    let latest = try #require(try new.map(time).max())
    let ends = try waiting.map { client in
      for _ in 1..<6 { _ = try client.message() }
      return try time(client)
    }
    #expect(try latest < #require(ends.min()))
  }

  @Test("calls are answered while others connect without a pause")
  func connecting() throws {
    let daemon = try RunningDaemon()
    let client = try daemon.client()
    // The first call is answered while new clients are being accepted, and the daemon must not be
    // stopped then; the second is not.
    for _ in 1...2 { _ = try client.result("org.keymoded.Controller.GetState") }
    var others: [RawClient] = []
    try daemon.whileStopped {
      client.send(RawCall.getState)
      others = try (0..<300).map { _ in try daemon.client() }
      for other in others { other.send(RawCall.getState) }
    }
    func time(_ client: RawClient) throws -> Int64 {
      try #require(client.reply()["parameters"]?["state"]?["time"]?.integer)
    }
    let first = try time(client)
    #expect(try others.map(time).count { $0 < first } <= 8)
  }

  @Test("a client that has never called makes room for a new one; one that has called stays")
  func silent() throws {
    let daemon = try RunningDaemon()
    let called = try daemon.client()
    _ = try called.result("org.keymoded.Controller.GetState")
    let half = try daemon.client()
    half.send(String(RawCall.getState.dropLast()))
    let subscriber = try daemon.subscriber()
    let silent = try (0..<493).map { _ in try daemon.client() }
    let error = #"{"error":"org.keymoded.Controller.TooManyClients","parameters":{}}"#
    // The oldest goes first, and half a call is none.
    var new: [RawClient] = []
    for oldest in [half] + silent {
      new.append(try daemon.client())
      _ = try new[new.count - 1].result("org.keymoded.Controller.GetState")
      #expect(try oldest.message() == error)
      #expect(try oldest.message() == nil)
    }
    // Now every client has called at least once.
    #expect(try daemon.client().message() == error)
    for client in [called] + new { _ = try client.result("org.keymoded.Controller.GetState") }
    try daemon.change(1)
    #expect(try subscriber.sequences(1) == [1])
  }

  @Test("one client too many is refused, and connections are reserved for control")
  func tooMany() throws {
    let daemon = try RunningDaemon()
    var clients: [RawClient] = []
    for _ in 0..<496 { clients.append(try daemon.subscriber()) }
    let refused = try daemon.client()
    let error = #"{"error":"org.keymoded.Controller.TooManyClients","parameters":{}}"#
    #expect(try refused.message() == error)
    #expect(try refused.message() == nil)
    let asked = try daemon.ask("state")
    #expect(asked.status == 1)
    #expect(asked.errors == "keymodectl: keymoded has too many clients; try again later\n")
    try daemon.change(1)
    for client in clients { #expect(try client.sequences(1) == [1]) }
    clients.removeLast(10)
    #expect(try daemon.subscriber().sequences(0) == [])
  }
}
