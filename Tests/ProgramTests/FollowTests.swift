import TestSupport
import Testing
import Wire

@Suite("examples/follow")
struct FollowTests {
  @Test("the program prints the states and their changes, and goes on after a restart")
  func follow() throws {
    let daemon = try RunningDaemon.following()
    let screen = try TerminalScreen(
      columns: 80, environment: ["KEYMODED_SOCKET_DIR": daemon.folder.path])
    try screen.type("clear; follow")
    try screen.wait("the states") {
      $0.hasSuffix("shift is off\nkeyboard is prepareToEditText\ncaps is unknown\nnum is unknown")
    }
    try daemon.change(2)
    try screen.wait("two changes") { $0.hasSuffix("shift is now on\nshift is now capsLock") }
    daemon.stop()
    try screen.wait("that it is gone") { $0.hasSuffix("keymoded ended the connection") }
    try daemon.start()
    try daemon.change(1)
    try screen.wait("the change after that") { $0.contains("\nshift is now off") }
  }

  @Test("into a pipe, each line is printed at once")
  func pipe() throws {
    let daemon = try RunningDaemon.following()
    let follow = try RunningProgram(
      "follow", [], environment: ["KEYMODED_SOCKET_DIR": daemon.folder.path])
    for (machine, state) in [
      ("shift", "off"), ("keyboard", "prepareToEditText"), ("caps", "unknown"), ("num", "unknown"),
    ] {
      #expect(try follow.line() == "\(machine) is \(state)")
    }
    try daemon.change(1)
    #expect(try follow.line() == "shift is now on")
  }
}
