import Foundation
import JSON
import SystemCalls
import TestSupport
import Testing

@Suite("Start with a bad configuration")
struct BadStartTests {
  private let bad = "shift: { treshold: 1s }\n"

  private func state(_ daemon: KeptDaemon) throws -> JSON {
    try JSON(parsing: try daemon.ask("state", "--json").output.utf8)
  }

  private func statistics(_ daemon: KeptDaemon) throws -> String? {
    try daemon.ask("stats").lines.last
  }

  @Test("the service goes on with the last good configuration and its states, and says so")
  func lastGood() throws {
    let daemon = try KeptDaemon(
      configuration: KeptDaemon.configuration
        + "keyboard: { table: { states: [loud], events: [shout], rows: "
        + "{ prepareToEditText: { shout: loud } } } }\n")
    #expect(try statistics(daemon) == "configuration  good")
    try daemon.trigger("shiftPressed", "shiftPressed", "shout")
    let before = try state(daemon)
    #expect(before["keyboard"] == "loud")
    try daemon.configure(bad)
    // Twice, because the second start must not take the bad one for the last good one.
    for _ in 0..<2 {
      daemon.kill()
      try daemon.start()
      let after = try state(daemon)
      for name in ["instance", "sequence", "shift", "shiftSince", "keyboard"] {
        #expect(after[name] == before[name])
      }
      #expect(
        daemon.log.contains(
          "keymoded.yaml:1:10: unknown setting 'treshold'; did you mean 'threshold'?\n"))
      let warning = "the configuration is invalid; the last good one applies"
      #expect(daemon.log.contains("\(warning)\n"))
      #expect(daemon.status == "keyboards followed: 0; \(warning)")
      #expect(try statistics(daemon) == "configuration  invalid; the last good one applies")
    }
    try daemon.configure(KeptDaemon.configuration)
    daemon.kill()
    try daemon.start()
    #expect(try statistics(daemon) == "configuration  good")
    #expect(daemon.status == "keyboards followed: 0")
    #expect(try state(daemon)["keyboard"] == "prepareToEditText")
  }

  @Test("the service uses the defaults if no good configuration was stored")
  func defaults() throws {
    let daemon = try KeptDaemon()
    daemon.stop()
    daemon.forget()
    try daemon.configure(bad)
    try daemon.start()
    #expect(try state(daemon)["sequence"] == 0)
    #expect(daemon.log.contains("the configuration is invalid; the defaults apply\n"))
    #expect(try statistics(daemon) == "configuration  invalid; the defaults apply")
    let json = try JSON(parsing: try daemon.ask("stats", "--json").output.utf8)
    #expect(json["configuration"] == "defaults")
  }

  @Test("a start by hand is refused")
  func byHand() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("bad.yaml", bad)
    let ended = try run("keymoded", "--config", file, "--socket-dir", folder.path)
    #expect(ended.status == 4)
    // A shell in another service passes these on.
    let inService = try run(
      "keymoded", "--config", file, "--socket-dir", folder.path,
      environment: ["NOTIFY_SOCKET": "\(folder.path)/notify", "SYSTEMD_EXEC_PID": "1"])
    #expect((inService.status, inService.errors) == (4, ended.errors))
    #expect(ended.errors == "\(file):1:10: unknown setting 'treshold'; did you mean 'threshold'?\n")
  }
}

@Suite("Upgrade from version 0.1.0")
struct UpgradeTests {
  private let kept = "\(Place.checkout)/Tests/KeymodedServiceTests/states-0.1.0"

  /// The memory that a service of version 0.1.0 stored.
  private func memory() throws -> Int32 {
    // The size for 1,024 changes.
    let memory = try SharedMemory(name: "states", size: 164_864)
    memory.bytes.copyBytes(from: try Data(contentsOf: URL(fileURLWithPath: kept)))
    return dup(memory.descriptor)
  }

  @Test("the service has the stored states, and sends clients the changes that they lack")
  func states() throws {
    let daemon = try KeptDaemon(keeping: ["states": try memory()])
    #expect(daemon.keptNames == ["states-2", "configuration"])
    let told = try JSON(
      parsing: try Data(contentsOf: URL(fileURLWithPath: "\(kept).json")))["parameters"]
    let instance = try #require(told?["state"]?["instance"])
    for _ in 0..<2 {
      let client = try RawClient("\(daemon.folder.path)/state.sock")
      try client.call(
        "org.keymoded.Controller.Monitor", ["after": 0, "instance": instance], more: true)
      let reply = try client.reply()["parameters"]
      #expect(reply?["changes"] == told?["changes"])
      for name in ["instance", "sequence", "shift", "shiftSince", "keyboard", "keyboardSince"] {
        #expect(reply?["state"]?[name] == told?["state"]?[name])
      }
      daemon.kill()
      try daemon.start()
    }
  }

  @Test("the states are stored even if the unit has room for one descriptor, as in version 0.1.0")
  func noRoom() throws {
    let daemon = try KeptDaemon(keeping: ["states": try memory()], limit: 1)
    #expect(daemon.keptNames == ["states-2"])
    daemon.kill()
    try daemon.start()
    #expect(daemon.keptNames == ["states-2"])
    let state = try JSON(parsing: try daemon.ask("state", "--json").output.utf8)
    #expect(state["sequence"] == 10)
  }

  @Test("of two stores the newer is used, and the other is removed")
  func both() throws {
    let daemon = try KeptDaemon(keeping: ["states": try memory()])
    try daemon.trigger("shiftPressed")
    let before = try daemon.ask("state", "--json").output
    daemon.kill()
    daemon.keep("states", try memory())
    try daemon.start()
    #expect(daemon.keptNames == ["states-2", "configuration"])
    let (was, now) = (
      try JSON(parsing: before.utf8), try JSON(parsing: daemon.ask("state", "--json").output.utf8)
    )
    #expect(now["sequence"] == was["sequence"] && now["sequence"] == 11)
  }
}
