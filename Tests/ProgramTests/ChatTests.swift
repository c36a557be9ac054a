import Foundation
import TestSupport
import Testing

@Suite("examples/chat")
struct ChatTests {
  private let rows = 10
  private let rest = "> Insert, Tab or a click here: write"
  private let noDaemon = "no keymoded; start it: sudo systemctl start keymoded"

  private func chatting(_ daemon: RunningDaemon) throws -> TerminalScreen {
    let screen = try TerminalScreen(
      columns: 80, rows: rows, environment: ["KEYMODED_SOCKET_DIR": daemon.folder.path])
    try screen.type("chat")
    return screen
  }

  /// Clicks in a row, counted from 1, with the bytes that terminals send.
  private func click(_ screen: TerminalScreen, row: Int) throws {
    try screen.write("\u{1b}[<0;5;\(row)M\u{1b}[<0;5;\(row)m")
  }

  /// Waits until the screen ends with this text, and the cursor is shown in this column of the last
  /// row, or not at all.
  private func see(_ screen: TerminalScreen, _ text: String, cursor: Int? = nil) throws {
    try screen.wait(text) {
      guard $0.hasSuffix("\n\(text)") else { return false }
      let cursorFlag = try screen.property("#{cursor_flag} #{cursor_x} #{cursor_y}")
      return cursor.map { cursorFlag == "1 \($0) \(rows - 1)" } ?? cursorFlag.hasPrefix("0 ")
    }
  }

  @Test("the chat follows the keyboard machine, and sends it what was tapped")
  func conversation() throws {
    let daemon = try RunningDaemon.following()
    let screen = try chatting(daemon)
    func keyboard() throws -> String { try daemon.ask("state", "keyboard").output }
    try see(screen, rest)
    #expect(try screen.text().hasPrefix("A chat with nobody."))

    try click(screen, row: rows)
    try see(screen, ">", cursor: 2)
    #expect(try keyboard() == "editingText\n")
    try screen.write("he")
    try see(screen, "> he", cursor: 4)
    // Neither types: F1, which is Esc and two letters, and Alt with a letter.
    try screen.press("F1")
    try screen.press("M-x")
    try daemon.trigger("shiftPressed")
    try see(screen, "⇧ > he", cursor: 6)
    // No key typed it: Shift waits for the next key's character.
    try screen.write("y")
    try see(screen, "⇧ > hey", cursor: 7)
    try daemon.trigger("shiftPressed")
    try see(screen, "⇪ > hey", cursor: 7)
    try screen.write("y")
    try see(screen, "⇪ > heyY", cursor: 8)
    try daemon.trigger("shiftPressed")

    try daemon.trigger("clickMoreButton")
    try see(screen, "1 😀   2 👍   3 🎉\n> heyY")
    try screen.write("2")
    try see(screen, "1 😀   2 👍   3 🎉\n> heyY👍")
    try daemon.trigger("clickSwitchButton")
    try see(screen, "[ ● talking: press the key again to send ]")
    try daemon.trigger("clickSwitchButton")
    try see(screen, "> heyY👍", cursor: 8)
    try screen.press("Enter")
    try see(screen, ">", cursor: 2)
    #expect(try screen.text().wholeMatch(of: /you: 🎤 \d+\.\d s\nyou: heyY👍\n+>/) != nil)

    try click(screen, row: 3)
    try see(screen, rest)
    #expect(try keyboard() == "prepareToEditText\n")
    // Esc alone does not swallow the next key.
    try screen.press("Escape")
    try screen.press("Tab")
    try see(screen, ">", cursor: 2)
    #expect(try keyboard() == "editingText\n")

    daemon.stop()
    try see(screen, "\(noDaemon)\n>", cursor: 2)
    try screen.write("a")
    try see(screen, "\(noDaemon)\n> a", cursor: 3)
    try daemon.start()
    // The connection comes back by itself.
    try see(screen, "\n> a", cursor: 3)
    try click(screen, row: 3)
    try see(screen, "> a")
    #expect(try keyboard() == "prepareToEditText\n")

    try screen.press("C-c")
    try screen.wait("the shell") { $0.contains("ready> chat") }
    #expect(try screen.property("#{alternate_on} #{cursor_flag} #{wrap_flag}") == "0 1 1")
  }

  @Test("the chat fills the screen anew as soon as that has another size")
  func resize() throws {
    let daemon = try RunningDaemon.following()
    let screen = try chatting(daemon)
    try see(screen, rest)
    try daemon.trigger("tapTextField")
    try see(screen, ">", cursor: 2)
    try screen.write(String(repeating: "日", count: 30))
    try see(screen, "> " + String(repeating: "日", count: 30), cursor: 62)
    for (columns, rows, shown) in [(40, 6, 18), (20, 3, 8), (80, 16, 30)] {
      try screen.resize(columns: columns, rows: rows)
      let field = "> " + String(repeating: "日", count: shown)
      try screen.wait("\(columns) columns") {
        let lines = $0.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == rows, lines.last == field[...] else { return false }
        return try screen.property("#{cursor_x} #{cursor_y}") == "\(2 + 2 * shown) \(rows - 1)"
      }
    }
  }

  @Test("a signal that ends the chat restores the terminal", arguments: [SIGTERM, SIGHUP, SIGQUIT])
  func signals(_ signal: Int32) throws {
    let folder = try TemporaryFolder()
    let screen = try TerminalScreen(
      columns: 80, rows: rows, environment: ["KEYMODED_SOCKET_DIR": folder.path])
    let settings = "stty -a | grep -o -e ' -\\?echo ' -e ' -\\?icanon'"
    try screen.type("sh -c 'echo $$ > \(folder.path)/pid; exec chat'; \(settings)")
    try screen.wait("the chat") { $0.contains(noDaemon) }
    let pid = try String(contentsOfFile: "\(folder.path)/pid", encoding: .utf8)
    kill(try #require(Int32(pid.dropLast())), signal)
    try screen.wait("the settings") { $0.contains("\n icanon") && $0.contains("\n echo") }
  }
}
