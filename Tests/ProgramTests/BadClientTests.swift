import Foundation
import Testing
import Wire

/// Whatever a bad client does, an innocent subscriber must get every change.
@Suite("Bad clients")
struct BadClientTests {
  private let getState = #"{"method":"org.keymoded.Controller.GetState"}"# + "\u{0}"
  private let monitor = #"{"method":"org.keymoded.Controller.Monitor","more":true}"# + "\u{0}"

  @Test("a client that never reads delays no other, and learns later what it missed")
  func neverReads() throws {
    let daemon = try RunningDaemon()
    let innocent = try daemon.subscriber()
    let silent = try daemon.client()
    silent.send(monitor)
    let count: Int64 = 4000
    for _ in 0..<40 {
      let before = try daemon.client().result("org.keymoded.Controller.GetState")
      let sequence = try #require(before["state"]?["sequence"]?.integer)
      try daemon.change(100)
      #expect(try innocent.sequences(100) == Array(sequence + 1...sequence + 100))
    }
    var reached: Int64 = 0
    var missed: Int64 = 0
    while reached < count {
      let parameters = try #require(try silent.reply()["parameters"])
      let changes = (parameters["changes"]?.array ?? []).compactMap { $0["sequence"]?.integer }
      let state = try #require(parameters["state"]?["sequence"]?.integer)
      let lost = try #require(parameters["missed"]?.integer)
      #expect(
        changes
          == Array((reached + lost + 1)...(reached + lost + 1 + count)).prefix(changes.count).map {
            $0
          })
      #expect(state == reached + lost + Int64(changes.count))
      missed += lost
      reached = state
    }
    #expect(missed > 0)
    try daemon.change(1)
    #expect(try silent.sequences(1) == [count + 1], "and goes on")
  }

  @Test("a client that calls without reading delays no other, and gets all its replies")
  func asksWithoutReading() throws {
    let daemon = try RunningDaemon()
    let innocent = try daemon.subscriber()
    let greedy = try daemon.client()
    let flags = fcntl(greedy.descriptor, F_GETFL)
    _ = fcntl(greedy.descriptor, F_SETFL, flags | O_NONBLOCK)
    // Sends until the daemon, which waits for this client to read, accepts no more.
    let calls = Array(String(repeating: getState, count: 50_000).utf8)
    let sent = greedy.send(calls)
    #expect(sent < calls.count)
    try daemon.change(200)
    #expect(try innocent.sequences(200) == Array(1...200))
    _ = fcntl(greedy.descriptor, F_SETFL, flags)
    for _ in 0..<sent / getState.utf8.count {
      #expect(try greedy.reply()["parameters"]?["state"]?["sequence"] != nil)
    }
    greedy.send(calls[sent...].prefix(getState.utf8.count - sent % getState.utf8.count))
    #expect(try greedy.reply()["parameters"]?["state"]?["sequence"] == 200)
  }

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
    let trigger =
      #"{"method":"org.keymoded.Controller.Trigger","parameters":{"event":"shiftPressed"},"#
      + "\"oneway\":true}\u{0}"
    try daemon.whileStopped {
      greedy.send(String(repeating: trigger, count: 100))
      modest.send(getState)
    }
    let sequence = try #require(
      try modest.reply()["parameters"]?["state"]?["sequence"]?.integer)
    #expect(sequence <= 1024 / Int64(trigger.utf8.count) + 1, "a kilobyte at a time")
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

  @Test("long replies to clients that do not read share memory")
  func longReplies() throws {
    let names = (0..<60).map { "averylongnameofsomething\($0)" }
    let rows = names.map { state in
      "\(state): { " + names.map { "e\($0): \(state)" }.joined(separator: ", ") + " }"
    }
    let daemon = try RunningDaemon(
      configuration: """
        keyboard:
          table:
            states: [\(names.joined(separator: ", "))]
            events: [\(names.map { "e\($0)" }.joined(separator: ", "))]
            rows:
              prepareToEditText: { \(names.map { "e\($0): \($0)" }.joined(separator: ", ")) }
              \(rows.joined(separator: "\n      "))

        """)
    let call = #"{"method":"org.keymoded.Controller.ListMachines"}"# + "\u{0}"
    let first = try daemon.client()
    first.send(call)
    let length = try #require(try first.message()).utf8.count
    let before = try daemon.residentKiB()
    let clients = try (0..<200).map { _ in try daemon.client() }
    for client in clients { client.send(call) }
    // The daemon has answered every client, as far as the sockets had room.
    for client in clients { try awaitInput(client.descriptor, "a part of the reply") }
    let grown = try daemon.residentKiB() - before
    #expect(grown < 20 * length / 1024, "\(grown) KiB for 200 replies of \(length) bytes")
  }

  @Test("a client that stops within a long message learns in it what it missed")
  func stopsInTheMiddle() throws {
    let daemon = try RunningDaemon()
    try daemon.change(1000)
    let slow = try daemon.client()
    let state = try slow.result("org.keymoded.Controller.GetState")["state"]
    let instance = try #require(state?["instance"]?.string)
    try slow.call(
      "org.keymoded.Controller.Monitor", ["after": 0, "instance": .string(instance)], more: true)
    try awaitInput(slow.descriptor, "the first part of the message")
    let others = try daemon.subscriber()
    for _ in 0..<20 {
      try daemon.change(100)
      #expect(try others.sequences(100).count == 100)
    }
    let first = try #require(try slow.reply()["parameters"])
    let changes = (first["changes"]?.array ?? []).compactMap { $0["sequence"]?.integer }
    #expect(first["state"]?["sequence"] == 1000)
    #expect(changes == Array(1...Int64(changes.count)) && changes.count < 1000)
    #expect(first["missed"] == .integer(1000 - Int64(changes.count)))
    let second = try #require(try slow.reply()["parameters"])
    #expect(second["state"]?["sequence"] == 3000)
    #expect(second["missed"] == 2000)
    try daemon.change(1)
    #expect(try slow.sequences(1) == [3001])
  }

  @Test("little waits in the kernel for a client that never reads")
  func memory() throws {
    let daemon = try RunningDaemon()
    let silent = try daemon.client()
    silent.send(monitor)
    try daemon.change(2000)
    var waiting: Int32 = 0
    #expect(ioctl(silent.descriptor, UInt(FIONREAD), &waiting) == 0)
    #expect(0 < waiting && waiting <= 32_768, "\(waiting)")
  }

  @Test("a client that sends half a message delays no other, and is answered once it is whole")
  func halfMessage() throws {
    let daemon = try RunningDaemon()
    let innocent = try daemon.subscriber()
    let slow = try daemon.client()
    slow.send(getState.prefix(20).description)
    try daemon.change(50)
    #expect(try innocent.sequences(50) == Array(1...50))
    for byte in getState.utf8.dropFirst(20) { slow.send([byte]) }
    #expect(try slow.reply()["parameters"]?["state"]?["sequence"] == 50)
  }

  @Test("a client that sends 1 MiB without NUL is disconnected", arguments: [0x20, 0x41, 0x5b])
  func endless(_ byte: UInt8) throws {
    let daemon = try RunningDaemon()
    let innocent = try daemon.subscriber()
    let bad = try daemon.client()
    bad.send([UInt8](repeating: byte, count: 1 << 20))
    #expect(try bad.message() == nil)
    try daemon.change(3)
    #expect(try innocent.sequences(3) == [1, 2, 3])
  }

  @Test("a message has at most 64 KiB, to the byte", arguments: [65_535, 65_536, 65_537])
  func longest(_ size: Int) throws {
    let daemon = try RunningDaemon()
    let client = try daemon.client()
    let call = getState.dropLast()
    client.send(call + String(repeating: " ", count: size - call.utf8.count) + "\u{0}")
    if size <= 65_536 {
      #expect(try client.reply()["parameters"]?["state"]?["sequence"] == 0)
    } else {
      #expect(try client.message() == nil)
    }
  }

  @Test("clients that hang up at any moment disturb no other and leave no connection behind")
  func hangsUp() throws {
    let daemon = try RunningDaemon()
    let innocent = try daemon.subscriber()
    for round in 1...100 {
      do {
        let fleeting = try daemon.client()
        switch round % 4 {
        case 0: fleeting.send(monitor)
        case 1: fleeting.send(String(repeating: getState, count: 100))
        case 2: fleeting.send("{\"meth")
        default: break
        }
        // Some shut down reading first, with calls still on the way.
        if round % 8 < 4 { shutdown(fleeting.descriptor, Int32(SHUT_RD)) }
      }
      try daemon.change(1)
      #expect(try innocent.sequences(1) == [Int64(round)])
    }
    // Three connections are left: the innocent one and these two. The daemon serves new clients after
    // those that have gone, so a few calls are enough.
    let control = try daemon.client(\.controlSocket)
    let last = try daemon.client()
    func clients() throws -> JSON? {
      try control.result("org.keymoded.Controller.GetStatistics")["clients"]
    }
    for _ in 1...100 where try clients() != 3 {
      _ = try last.result("org.keymoded.Controller.GetState")
    }
    #expect(try clients() == 3)
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
    for _ in 1...100 where try clients() != 1 {}
    #expect(try clients() == 1)
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
    let asked = try run("keymodectl", "state", "--socket-dir", daemon.folder.path)
    #expect(asked.status == 1)
    #expect(
      asked.errors
        == "keymodectl: keymoded has too many clients; try again later\n")
    try daemon.change(1)
    for client in clients { #expect(try client.sequences(1) == [1]) }
    clients.removeLast(10)
    #expect(try daemon.subscriber().sequences(0) == [])
  }
}
