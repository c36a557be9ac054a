import TestSupport
import Testing

@Suite("examples/chat")
struct ChatTests {
  private let rows = 8

  private func chatting(_ daemon: KeptDaemon) throws -> TerminalScreen {
    let screen = try TerminalScreen(
      columns: 60, rows: rows, environment: ["KEYMODED_SOCKET_DIR": daemon.folder.path])
    try screen.type("chat")
    return screen
  }

  /// Clicks in a row, counted from 1, with the bytes that terminals send.
  private func click(_ screen: TerminalScreen, row: Int) throws {
    try screen.write("\u{1b}[<0;5;\(row)M\u{1b}[<0;5;\(row)m")
  }

  @Test("the chat follows the keyboard machine, and sends it what was tapped")
  func conversation() throws {
    let daemon = try KeptDaemon()
    let screen = try chatting(daemon)
    func see(_ text: String) throws { try screen.wait(text) { $0.hasSuffix(text) } }
    func keyboard() throws -> String {
      try run("keymodectl", "state", "keyboard", "--socket-dir", daemon.folder.path).output
    }
    try see("\n> tap to write")

    try click(screen, row: rows)
    try see("\n> ▏")
    #expect(try keyboard() == "editingText\n")
    try screen.write("he")
    try see("\n> he▏")
    // Neither types: F1, which is Esc and two letters, and Alt with a letter.
    try screen.press("F1")
    try screen.press("M-x")
    try daemon.trigger("shiftPressed")
    try see("\n⇧ > he▏")
    try screen.write("y")
    try see("\n⇧ > heY▏")
    // A real key would send this event; the test types without a keyboard.
    try daemon.trigger("characterTyped")
    try see("\n> heY▏")

    try daemon.trigger("clickMoreButton")
    try see("1 😀   2 👍   3 🎉\n> heY")
    try screen.write("2")
    try see("\n> heY👍")
    try daemon.trigger("clickSwitchButton")
    try see("\n[ ● hold to talk ]")
    try daemon.trigger("clickSwitchButton")
    try see("\n> heY👍▏")
    try screen.press("Enter")
    try see("\n> ▏")
    #expect(try screen.text().hasPrefix("you: heY👍\n"))

    try click(screen, row: 3)
    try see("\n> tap to write")
    #expect(try keyboard() == "prepareToEditText\n")
    // Esc alone does not swallow the next key.
    try screen.press("Escape")
    try screen.press("Tab")
    try see("\n> ▏")
    #expect(try keyboard() == "editingText\n")

    daemon.stop()
    try see("\nwaiting for keymoded\n> ▏")
    try click(screen, row: 3)
    try screen.wait("why not") { $0.contains("\nno keymoded listens on ") }
    try daemon.start()
    try click(screen, row: 3)
    try see("\n> tap to write")
    #expect(try keyboard() == "prepareToEditText\n")

    try screen.press("C-c")
    try screen.wait("the shell") { $0.contains("ready> chat") }
    #expect(try screen.property("#{alternate_on} #{cursor_flag}") == "0 1")
  }
}
