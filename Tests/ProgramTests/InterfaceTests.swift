import Glibc
import TestSupport
import Testing
import Wire

@Suite("Interface on real sockets")
struct InterfaceTests {
  private let controller = "org.keymoded.Controller"

  @Test("Trigger changes the states, on the control socket only")
  func trigger() throws {
    let daemon = try RunningDaemon()
    let control = try daemon.client(\.controlSocket)
    let result = try control.result("\(controller).Trigger", ["event": "clickMoreButton"])
    #expect(result["changed"] == true)
    #expect(result["state"]?["states"]?["keyboard"] == "showingPanel")
    #expect(result["state"]?["since"]?["keyboard"]?.integer != nil)
    let ignored = try control.result("\(controller).Trigger", ["event": "characterTyped"])
    #expect(ignored["changed"] == false)
    #expect(ignored["state"]?["sequence"] == 1)
    let reading = try daemon.client()
    try reading.call("\(controller).Trigger", ["event": "clickMoreButton"])
    #expect(
      try reading.message() == #"{"error":"org.varlink.service.PermissionDenied","parameters":{}}"#)
    #expect(try reading.result("\(controller).GetState")["state"]?["sequence"] == 1)
  }

  @Test("Monitor resumes where a client left off")
  func resume() throws {
    let daemon = try RunningDaemon()
    let instance = try #require(
      try daemon.client().result("\(controller).GetState")["state"]?["instance"])
    try daemon.change(5)
    func first(_ parameters: JSON) throws -> JSON {
      let client = try daemon.client()
      try client.call("\(controller).Monitor", parameters, more: true)
      return try client.reply()
    }
    func numbers(_ reply: JSON) -> [Int64] {
      (reply["parameters"]?["changes"]?.array ?? []).compactMap { $0["sequence"]?.integer }
    }
    #expect(numbers(try first(["after": 0, "instance": instance])) == [1, 2, 3, 4, 5])
    #expect(numbers(try first(["after": 3, "instance": instance])) == [4, 5])
    let current = try first(["after": 5, "instance": instance])
    #expect(numbers(current) == [])
    #expect(current["parameters"]?["missed"] == 0)
    let other = try first(["after": 3, "instance": "another"])
    #expect(numbers(other) == [])
    #expect(other["parameters"]?["missed"] == 0)
    #expect(other["parameters"]?["restarted"] == true)
    #expect(other["parameters"]?["state"]?["sequence"] == 5)
    let later = try first(["after": 6, "instance": instance])
    #expect(later["error"] == "org.varlink.service.InvalidParameter")
    #expect(later["parameters"]?["parameter"] == "after")
    #expect(numbers(try first(["after": nil, "instance": nil])) == [], "null is not given")
  }

  @Test("ListMachines returns the rules in force")
  func machines() throws {
    let daemon = try RunningDaemon(configuration: "shift: { threshold: 300ms }")
    let machines = try daemon.client().result("\(controller).ListMachines")["machines"]?.array ?? []
    #expect(machines.map { $0["name"] } == ["shift", "keyboard", "caps", "num"])
    #expect(machines.map { $0["initial"] } == ["off", "prepareToEditText", "unknown", "unknown"])
    #expect(machines.first?["states"] == ["off", "on", "capsLock"])
    #expect(machines.first?["events"] == ["shiftPressed", "characterTyped", "shiftUsed"])
    #expect(machines.map { $0["rows"]?.array?.count } == [11, 12, 6, 6])
    #expect(
      machines.first?["rows"]?.array?.contains([
        "from": "on", "event": "shiftPressed", "to": "capsLock", "condition": "< 300 ms",
      ]) == true)
    #expect(
      machines[1]["rows"]?.array?.contains([
        "from": "prepareToEditText", "event": "clickSwitchButton", "to": "prepareToRecord",
        "condition": nil,
      ]) == true)
  }

  @Test("GetStatistics is not changed by keys that change no state")
  func statistics() throws {
    func statistics(_ recording: String) throws -> [JSON?] {
      let daemon = try RunningDaemon(recording: recording)
      // At the speed max, the recording has been played by the time of the reply.
      let control = try daemon.client(\.controlSocket)
      _ = try control.result("\(controller).Trigger", ["event": "tapBlankArea"])
      let reply = try control.result("\(controller).GetStatistics")
      let names = ["changes", "clients", "missed", "devices", "losses", "reloads", "configuration"]
      guard case .object(let members) = reply else { throw TimedOut(waitingFor: "statistics") }
      #expect(Set(members.map(\.name)) == Set(names + ["unopened", "started", "time", "held"]))
      return names.map { reply[$0] }
    }
    let letters = (0..<40).map { "E: 1.\(100_100 + $0) 0001 \(16 + $0 / 2 % 10) \(1 - $0 % 2)\n" }
      .joined()
    #expect(
      try statistics("# EVEMU 1.3\n" + letters) == [0, 1, 0, 0, 0, 0, "current"],
      "as without any")
    #expect(try statistics("# EVEMU 1.3\n") == [0, 1, 0, 0, 0, 0, "current"])
  }

  @Test("calls sent at once are answered in order, and oneway calls get no reply")
  func pipelined() throws {
    let daemon = try RunningDaemon()
    let client = try daemon.client(\.controlSocket)
    client.send(
      """
      {"method":"\(controller).Trigger","parameters":{"event":"tapTextField"},"oneway":true}\u{0}\
      {"method":"org.varlink.service.GetInfo"}\u{0}{"method":"\(controller).GetState"}\u{0}\
      {"method":"\(controller).Nothing","oneway":true}\u{0}{"method":"\(controller).GetState"}\u{0}
      """)
    #expect(try client.reply()["parameters"]?["product"] == "keymoded")
    for _ in 0..<2 {
      #expect(try client.reply()["parameters"]?["state"]?["states"]?["keyboard"] == "editingText")
    }
  }

  @Test("a client that reads late gets all replies")
  func lateReader() throws {
    let daemon = try RunningDaemon()
    let (client, other) = (try daemon.client(), try daemon.client())
    let count = 1000
    client.send(String(repeating: RawCall.getState, count: count))
    // The two are served in turns, so afterwards the first one's socket is full of replies.
    for _ in 0..<100 { _ = try other.result("\(controller).GetState") }
    for _ in 0..<count {
      #expect(try client.reply()["parameters"]?["state"]?["sequence"] == 0)
    }
  }

  @Test("a oneway call takes effect even if its sender hangs up at once")
  func onewayAndGone() throws {
    let daemon = try RunningDaemon()
    let subscriber = try daemon.subscriber()
    for round in Int64(1)...100 {
      do {
        let client = try daemon.client(\.controlSocket)
        if round % 2 == 0 {
          // Hangs up with a reply unread, which the kernel reports as an error of the connection.
          try client.call("\(controller).GetState")
          try awaitInput(client.descriptor, "a reply")
        }
        client.send(RawCall.shiftPressed)
      }
      #expect(try subscriber.sequences(1) == [round])
    }
    // More than the daemon reads at once.
    try daemon.client(\.controlSocket).send(String(repeating: RawCall.shiftPressed, count: 100))
    #expect(try subscriber.sequences(100) == Array(101...200))
  }

  @Test("a oneway call takes effect after a call whose reply cannot be sent")
  func onewayBehindUnwantedReply() throws {
    let daemon = try RunningDaemon()
    let subscriber = try daemon.subscriber()
    for round in Int64(1)...100 {
      let client = try daemon.client(\.controlSocket)
      // From here on, the daemon cannot send replies.
      shutdown(client.descriptor, Int32(SHUT_RD))
      client.send(RawCall.getState + RawCall.shiftPressed)
      #expect(try subscriber.sequences(1) == [round])
    }
  }

  @Test("a client that has shut down sending still gets its replies")
  func halfClosed() throws {
    let daemon = try RunningDaemon()
    let client = try daemon.client()
    client.send(RawCall.getState + RawCall.monitor)
    shutdown(client.descriptor, Int32(SHUT_WR))
    #expect(try client.reply()["parameters"]?["state"]?["states"]?["shift"] == "off")
    #expect(try client.reply()["parameters"]?["changes"] == [])
    try daemon.change(3)
    #expect(try client.sequences(3) == [1, 2, 3])
    let other = try daemon.client()
    other.send(RawCall.getState)
    shutdown(other.descriptor, Int32(SHUT_WR))
    #expect(try other.reply()["parameters"]?["state"]?["sequence"] == 3)
    #expect(try other.message() == nil)
  }
}
