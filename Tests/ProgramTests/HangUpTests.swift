import Foundation
import TestSupport
import Testing
import Wire

@Suite("HangUp")
struct HangUpTests {
  private static let method = "org.keymoded.Controller.HangUp"

  private func hangUp(_ daemon: RunningDaemon) throws {
    #expect(try daemon.client(\.controlSocket).result(Self.method) == [:])
  }

  /// The first reply to a client that knows this sequence from its beginning.
  private func sinceBeginning(_ client: RawClient, of instance: JSON?) throws -> JSON {
    try client.call(
      "org.keymoded.Controller.Monitor", ["after": 0, "instance": instance ?? .null], more: true)
    return try #require(try client.reply()["parameters"])
  }

  @Test("ends each connection for reading, and none for control")
  func connections() throws {
    let daemon = try RunningDaemon.following()
    let (idle, asking, subscribed) = (
      try daemon.client(), try daemon.client(), try daemon.subscriber()
    )
    _ = try asking.result("org.keymoded.Controller.GetState")
    let control = try daemon.client(\.controlSocket)
    try control.subscribe()
    try hangUp(daemon)
    for client in [idle, asking, subscribed] { #expect(try client.message() == nil) }
    try daemon.change(1)
    #expect(try control.sequences(1) == [1])
    // The daemon may still hear of the end of those that have just asked.
    try wait(for: "two clients") { try daemon.ask("stats").lines.contains("clients        2") }
  }

  @Test("ends connections that wait to be accepted, and answers none of them")
  func backlog() throws {
    let daemon = try RunningDaemon.following()
    var waiting: [RawClient] = []
    var control: RawClient?
    try daemon.whileStopped {
      for _ in 0..<100 {
        let client = try daemon.client()
        try client.call("org.keymoded.Controller.GetState")
        waiting.append(client)
      }
      control = try daemon.client(\.controlSocket)
      try control?.call(Self.method)
    }
    #expect(try control?.reply() == ["parameters": [:]])
    for client in waiting { #expect(try client.message() == nil) }
    try wait(for: "two clients") { try daemon.ask("stats").lines.contains("clients        2") }
  }

  @Test("forgets the changes, also for the next daemon, and keeps states and sequence")
  func changes() throws {
    let daemon = try RunningDaemon.following()
    try daemon.change(2)
    let instance = try daemon.client().result("org.keymoded.Controller.GetState")["state"]?[
      "instance"]
    #expect(
      try sinceBeginning(daemon.client(), of: instance)["changes"]?.array?.count == 2, "before")
    try hangUp(daemon)
    for isRestarted in [false, true] {
      if isRestarted {
        daemon.kill()
        try daemon.start()
      }
      let first = try sinceBeginning(daemon.client(), of: instance)
      #expect(first["changes"]?.array?.isEmpty == true)
      #expect(first["missed"] == 2)
      #expect(first["state"]?["sequence"] == 2)
      #expect(first["state"]?["states"]?["shift"] == "capsLock")
    }
    let follower = try daemon.subscriber()
    try daemon.change(1)
    #expect(try follower.sequences(1) == [3])
    let later = try sinceBeginning(daemon.client(), of: instance)
    #expect(later["missed"] == 3)
  }

  @Test("a subscriber for control that has not read yet is told that it missed the changes")
  func late() throws {
    let daemon = try RunningDaemon.following()
    let control = try daemon.client(\.controlSocket)
    try control.subscribe()
    try daemon.whileStopped {
      let other = try daemon.client(\.controlSocket)
      for _ in 0..<3 { other.send(RawCall.shiftPressed) }
      try other.call(Self.method)
    }
    #expect(try control.sequences(3) == [1, 2, 3])
  }

  @Test("only clients for control may call it, without parameters")
  func refused() throws {
    let daemon = try RunningDaemon.following()
    let reading = try daemon.client()
    try reading.call(Self.method)
    #expect(try reading.reply()["error"] == "org.varlink.service.PermissionDenied")
    let control = try daemon.client(\.controlSocket)
    try control.call(Self.method, ["user": 1])
    #expect(try control.reply()["error"] == "org.varlink.service.InvalidParameter")
    _ = try reading.result("org.keymoded.Controller.GetState")
  }
}
