import Foundation
import TestSupport
import Testing

@Suite("Commands that wait for a daemon")
struct AwaitedDaemonTests {
  /// A folder of sockets without a daemon, and one that can be started there.
  private let daemon: RunningDaemon

  init() throws {
    daemon = try RunningDaemon.following()
    daemon.stop()
    daemon.forget()
  }

  /// A terminal on which this command has said that it waits.
  private func waiting(_ command: String) throws -> TerminalScreen {
    let screen = try TerminalScreen(
      columns: 120, environment: ["KEYMODED_SOCKET_DIR": daemon.folder.path])
    try screen.type("keymodectl \(command); echo ended with $?")
    let advice = "start one with 'keymoded --socket-dir \(daemon.folder.path)'"
    try screen.wait("the message") { text in
      text.contains(advice)
        && (text.contains("\nwaiting for it") || text.hasPrefix("waiting for keymoded in "))
    }
    return screen
  }

  @Test(
    "wait says on a terminal that it waits, and sees the states of the daemon that comes",
    arguments: ["wait shift=on", "wait shift=on keyboard=prepareToEditText --timeout 100s"])
  func states(_ command: String) throws {
    let screen = try waiting(command)
    try daemon.start()
    try daemon.trigger("shiftPressed")
    try screen.wait("the end") { $0.contains("\nended with 0\n") }
  }

  @Test(
    "without a terminal, a command says in one line that it waits",
    arguments: ["wait shift=off", "watch --json", "watch --lines", "watch --format x"])
  func scripts(_ command: String) throws {
    let arguments = command.split(separator: " ").map(String.init)
    let program = try RunningProgram(
      "keymodectl", arguments + ["--socket-dir", daemon.folder.path])
    try wait(for: "a line") { program.errors.hasSuffix("\n") }
    let socket = "\(daemon.folder.path)/state.sock"
    #expect(
      program.errors == "keymodectl: no keymoded listens on '\(socket)'; waiting for it\n")
  }

  @Test("wait goes on waiting when the daemon ends, and its timeout counts all the time")
  func restart() throws {
    try daemon.start()
    let screen = try TerminalScreen(
      columns: 120, environment: ["KEYMODED_SOCKET_DIR": daemon.folder.path])
    try screen.type("keymodectl wait shift=on; echo ended with $?")
    try wait(for: "a client") { try daemon.ask("stats").lines.contains("clients        2") }
    daemon.stop()
    try screen.wait("the message") { $0.contains("\nwaiting for it") }
    try daemon.start()
    try daemon.trigger("shiftPressed")
    try screen.wait("the end") { $0.contains("\nended with 0\n") }
    daemon.stop()
    let start = ContinuousClock.now
    let ended = try daemon.ask("wait", "shift=off", "--timeout", "300ms")
    #expect(ended.status == 3)
    #expect(ContinuousClock.now - start >= .milliseconds(300))
  }

  @Test("watch waits with a view that says how to start a daemon, and then shows its states")
  func view() throws {
    let screen = try waiting("watch")
    #expect(try screen.property("#{alternate_on}") == "1")
    try daemon.start()
    try screen.wait("the states") {
      $0.hasPrefix("connected to ") && $0.contains("prepareToEditText")
    }
    #expect(try !screen.text().contains("keymoded has ended"))
    try screen.press("q")
    try screen.wait("the end") { $0.contains("\nended with 0\n") }
  }
}
