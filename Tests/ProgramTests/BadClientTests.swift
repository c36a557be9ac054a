import Foundation
import JSON
import Testing

/// In each test an innocent subscriber must get every change, whatever another client does.
@Suite("Beside a bad client")
struct BadClientTests {
  private let getState = #"{"method":"org.keymoded.Controller.GetState"}"# + "\u{0}"
  private let monitor = #"{"method":"org.keymoded.Controller.Monitor","more":true}"# + "\u{0}"

  @Test("that never reads, others get everything; when it reads, it learns what it missed")
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

  @Test("that asks without end and never reads, others get everything, and it all its answers")
  func asksWithoutReading() throws {
    let daemon = try RunningDaemon()
    let innocent = try daemon.subscriber()
    let greedy = try daemon.client()
    let flags = fcntl(greedy.descriptor, F_GETFL)
    _ = fcntl(greedy.descriptor, F_SETFL, flags | O_NONBLOCK)
    // Until the daemon, which waits for this client to read, takes no more.
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

  @Test("that asks without end, an event goes before all that it asked and was not yet told")
  func eventsFirst() throws {
    let daemon = try RunningDaemon()
    let greedy = try (0..<100).map { _ in try daemon.client() }
    let control = try daemon.client(\.controlSocket)
    // The one that asks last is the one that the kernel tells of last.
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

  @Test("that may act and asks without end, others who ask have their turn")
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

  @Test("that may act and asks without end, it ends when it is told to")
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

  @Test("that reads none of the longest replies, all of them share the memory")
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
    // All have been answered, as far as there was room.
    for client in clients { try awaitInput(client.descriptor, "a part of the reply") }
    let grown = try daemon.residentKiB() - before
    #expect(grown < 20 * length / 1024, "\(grown) KiB for 200 replies of \(length) bytes")
  }

  @Test("that stops in the middle of a long message, its message tells later what was lost")
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

  @Test("that never reads, little waits for it in the kernel, which is memory of the daemon too")
  func memory() throws {
    let daemon = try RunningDaemon()
    let silent = try daemon.client()
    silent.send(monitor)
    try daemon.change(2000)
    var waiting: Int32 = 0
    #expect(ioctl(silent.descriptor, UInt(FIONREAD), &waiting) == 0)
    #expect(0 < waiting && waiting <= 32_768, "\(waiting)")
  }

  @Test("that sends half a message, others get everything, and so does it once it is whole")
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

  @Test("that sends 1 MiB without an end, the connection is closed", arguments: [0x20, 0x41, 0x5b])
  func endless(_ byte: UInt8) throws {
    let daemon = try RunningDaemon()
    let innocent = try daemon.subscriber()
    let bad = try daemon.client()
    bad.send([UInt8](repeating: byte, count: 1 << 20))
    #expect(try bad.message() == nil)
    try daemon.change(3)
    #expect(try innocent.sequences(3) == [1, 2, 3])
  }

  @Test("the longest message is 64 KiB, to the byte", arguments: [65_535, 65_536, 65_537])
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

  @Test("that hangs up at any moment, others get everything")
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
        // Or gone for reading alone at first, with calls on the way.
        if round % 8 < 4 { shutdown(fleeting.descriptor, Int32(SHUT_RD)) }
      }
      try daemon.change(1)
      #expect(try innocent.sequences(1) == [Int64(round)])
    }
    // No connection is left behind: there is the innocent one, and these two that ask. Who connects
    // now has a turn after those who have gone, so a few turns are all they need.
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

  @Test("512 of them, the next is turned away, and places for control are kept")
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
        == "keymodectl: keymoded has as many clients as it can serve; try again later\n")
    try daemon.change(1)
    for client in clients { #expect(try client.sequences(1) == [1]) }
    clients.removeLast(10)
    #expect(try daemon.subscriber().sequences(0) == [])
  }
}
