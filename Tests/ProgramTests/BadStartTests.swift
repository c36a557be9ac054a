import Foundation
import TestSupport
import Testing
import Wire

@Suite("Start with a bad configuration")
struct BadStartTests {
  private let bad = "shift: { treshold: 1s }\n"

  private func state(_ daemon: RunningDaemon) throws -> JSON {
    try JSON(parsing: try daemon.ask("state", "--json").output.utf8)
  }

  private func statistics(_ daemon: RunningDaemon) throws -> String? {
    try daemon.ask("stats").lines.last
  }

  @Test("the service goes on with the last good configuration and its states, and says so")
  func lastGood() throws {
    let daemon = try RunningDaemon.following(
      configuration: RunningDaemon.withoutDevices
        + "keyboard: { table: { states: [loud], events: [shout], rows: "
        + "{ prepareToEditText: { shout: loud } } } }\n")
    #expect(try statistics(daemon) == "configuration  good")
    try daemon.trigger("shiftPressed", "shiftPressed", "shout")
    let before = try state(daemon)
    #expect(before["states"]?["keyboard"] == "loud")
    try daemon.configure(bad)
    // Twice, because the second start must not take the bad one for the last good one.
    for _ in 0..<2 {
      daemon.kill()
      try daemon.start()
      let after = try state(daemon)
      for name in ["instance", "sequence", "states", "since"] {
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
    try daemon.configure(RunningDaemon.withoutDevices)
    daemon.kill()
    try daemon.start()
    #expect(try statistics(daemon) == "configuration  good")
    #expect(daemon.status == "keyboards followed: 0")
    #expect(try state(daemon)["states"]?["keyboard"] == "prepareToEditText")
  }

  @Test("the service uses the defaults if no good configuration was stored")
  func defaults() throws {
    let daemon = try RunningDaemon.following()
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
    let lines = ended.errors.split(separator: "\n")
    #expect(lines.first == "\(file):1:10: unknown setting 'treshold'; did you mean 'threshold'?")
    #expect(
      lines.dropFirst() == [
        "  \(bad)".dropLast(bad.hasSuffix("\n") ? 1 : 0), "           ^~~~~~~~",
      ])
  }
}
