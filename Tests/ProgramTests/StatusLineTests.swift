import Glibc
import TestSupport
import Testing

@Suite("keymodectl watch in a status bar")
struct StatusLineTests {
  /// A watch whose output a bar reads.
  private func bar(_ daemon: String, _ arguments: String...) throws -> RunningProgram {
    try RunningProgram("keymodectl", ["watch", "--socket-dir", daemon] + arguments)
  }

  @Test("--format prints its text whenever it changes, through restarts")
  func format() throws {
    let daemon = try RunningDaemon.following()
    let folder = daemon.folder.path
    let both = try self.bar(folder, "--format", "{{{shift}}} | {keyboard}")
    let keyboard = try self.bar(folder, "--format={keyboard}")
    #expect(try both.line() == "{off} | prepareToEditText")
    #expect(try keyboard.line() == "prepareToEditText")
    try daemon.change(1)
    #expect(try both.line() == "{on} | prepareToEditText")
    daemon.stop()
    #expect(try both.line() == "", "nobody knows")
    try daemon.start()
    #expect(try both.line() == "{on} | prepareToEditText")
    #expect(try keyboard.line() == "", "its text was the same until then")
    #expect(try keyboard.line() == "prepareToEditText")
  }

  @Test("a watch for a bar can start before the daemon")
  func early() throws {
    let daemon = try RunningDaemon.following()
    daemon.stop()
    let bar = try self.bar(daemon.folder.path, "--waybar", "--format", "{shift}")
    let absent =
      #"{"text":"","alt":"disconnected","tooltip":"no keymoded","class":["disconnected"]}"#
    #expect(try bar.line() == absent)
    try daemon.start()
    let present =
      #"{"text":"off","alt":"off","tooltip":"shift: off\u000akeyboard: prepareToEditText","#
      + #""class":["off","prepareToEditText"]}"#
    let line = try bar.line()
    #expect(line == present)
  }

  @Test("a daemon that does not answer gives an empty line, and is tried again")
  func silent() throws {
    let folder = try TemporaryFolder()
    let answers = ScriptedDaemon.answers
    let silent = try ScriptedDaemon(in: folder.path, answers, withholding: .saysNothing)
    let bar = try self.bar(folder.path, "--format", "{shift}")
    #expect(try bar.line() == "")
    let other = try ScriptedDaemon(in: folder.path, answers)
    #expect(try bar.line() == "off")
    withExtendedLifetime((silent, other)) {}
  }

  @Test(
    "without permission, a bar shows so, and the states once it has it",
    arguments: ["--waybar", "--format"])
  func denied(_ option: String) throws {
    let daemon = try RunningDaemon.following()
    let sockets = [daemon.stateSocket, daemon.controlSocket]
    for socket in sockets { try #require(chmod(socket, 0) == 0) }
    let command =
      withoutRightsOfRoot + ["\(Place.programs)/keymodectl", "watch", option]
      + (option == "--format" ? ["{shift}"] : []) + ["--socket-dir", daemon.folder.path]
    let bar = try RunningProgram(command[0], Array(command[1...]))
    let reason = "no permission to use '\(daemon.stateSocket)'"
    #expect(
      try bar.line()
        == (option == "--format"
          ? "disconnected"
          : #"{"text":"disconnected","alt":"disconnected","tooltip":"\#(reason)","class":["disconnected"]}"#)
    )
    for socket in sockets { try #require(chmod(socket, 0o600) == 0) }
    #expect(try bar.line().contains("off"))
    #expect(bar.errors == "keymodectl: \(reason); waiting for it\n")
  }

  @Test(
    "a watch ends when its output has no reader, even without changes",
    arguments: ["--waybar", "--format=x", "--lines", "--json"])
  func abandoned(_ option: String) throws {
    let daemon = try RunningDaemon.following()
    let bar = try self.bar(daemon.folder.path, option)
    _ = try bar.line()
    try bar.closeOutput()
    #expect(bar.end() == 0)
  }
}
