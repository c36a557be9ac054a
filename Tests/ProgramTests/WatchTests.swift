import Foundation
import TestSupport
import Testing
import Wire

@Suite("keymodectl watch on a terminal")
struct WatchTests {
  private func watching(
    _ daemon: RunningDaemon, columns: Int = 80, rows: Int = 16, environment: [String: String] = [:]
  ) throws -> TerminalScreen {
    let settings = environment.merging(["KEYMODED_SOCKET_DIR": daemon.folder.path]) { $1 }
    let screen = try TerminalScreen(columns: columns, rows: rows, environment: settings)
    try screen.type("keymodectl watch")
    try screen.wait("the view") { $0.hasPrefix("connected to ") }
    return screen
  }

  /// The text with placeholders for times of day and durations, without the last line, of keys.
  private func steady(_ text: String) -> String {
    text.replacing(/\n*q quits, Ctrl\+Z stops, fg continues$/, with: "")
      .replacing(/\d\d:\d\d:\d\d\.\d\d\d/, with: "HH:MM:SS.mmm")
      .replacing(/for \d+ (?:s|min) */) { match in
        "for N s".padding(toLength: max(7, match.output.count), withPad: " ", startingAt: 0)
      }.replacing(/(?m) +$/, with: "")
  }

  /// Waits until the screen shows `text`, except for times, and returns it with its times.
  @discardableResult
  private func wait(for text: String, on screen: TerminalScreen) throws -> String {
    try screen.wait(text) { steady($0) == text }
  }

  @Test("the view shows both machines side by side, and the latest changes")
  func view() throws {
    let daemon = try RunningDaemon.following()
    let screen = try watching(daemon)
    let place = daemon.folder.path
    try wait(
      for: """
        connected to keymoded in \(place)

                      shift                      keyboard
                      off                        prepareToEditText
        """, on: screen)
    try daemon.trigger("shiftPressed", "tapTextField", "characterTyped", "clickSwitchButton")
    let text = try wait(
      for: """
        connected to keymoded in \(place)

                      shift                      keyboard
                      off                        prepareToRecord
                      for N s                    for N s

        HH:MM:SS.mmm                             prepareToRecord ← clickSwitchButton
        HH:MM:SS.mmm  off ← characterTyped
        HH:MM:SS.mmm                             editingText ← tapTextField
        HH:MM:SS.mmm  on ← shiftPressed
        """, on: screen)
    let hand = /for \d+ (?:s|min)/
    let before = try #require(text.firstMatch(of: hand)).output
    try screen.wait("the second hand") {
      $0.firstMatch(of: hand).map { $0.output != before } == true
    }
  }

  @Test("the view fits a terminal that changes its size", arguments: [(200, 50), (30, 8), (1, 1)])
  func size(_ columns: Int, _ rows: Int) throws {
    let daemon = try RunningDaemon.following()
    let screen = try watching(daemon)
    try screen.resize(columns: columns, rows: rows)
    // The first line is cut at the edge of the terminal, and no line is wrapped.
    let first = "connected to keymoded in \(daemon.folder.path)"
    let cut = first.count <= columns ? first : first.prefix(columns - 1) + "…"
    try screen.wait("the view for \(columns) columns") { text in
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      return lines.first.map(String.init) == cut && lines.count <= rows
        && lines.allSatisfy { $0.count <= columns }
        && (columns < 30 || text.contains(/\n {0,14}off .*prepareToEditText/))
    }
  }

  @Test("the view has colours, except with NO_COLOR")
  func colors() throws {
    let daemon = try RunningDaemon.following()
    try daemon.trigger("shiftPressed", "shiftPressed")
    let colored = try watching(daemon)
    try daemon.trigger("clickSwitchButton")
    // Both are red, but one is underlined, and the other has exchanged colours.
    try colored.wait("red", withColors: true) {
      $0.contains(/\x1b\[1;4m\x1b\[31mcapsLock/)
        && $0.contains(/\x1b\[1;7m\x1b\[31mprepareToRecord/)
    }
    let plain = try watching(daemon, environment: ["NO_COLOR": "1"])
    let text = try plain.wait("no colour", withColors: true) { $0.contains("capsLock") }
    #expect(!text.contains("\u{1b}"))
  }

  @Test("the terminal is restored at the end", arguments: ["C-c", "q", "C-\\"])
  func end(_ key: String) throws {
    let daemon = try RunningDaemon.following()
    let screen = try watching(daemon)
    #expect(try screen.property("#{alternate_on} #{cursor_flag}") == "1 0")
    try screen.press(key)
    try screen.wait("the shell") { $0.hasSuffix("\nready>") }
    try screen.type("echo ended with $?; stty -a")
    let status = ["C-c": 130, "q": 0, "C-\\": 131][key] ?? -1
    try screen.wait("the status") { $0.contains("\nended with \(status)\n") }
    try screen.wait("the settings") { $0.contains(" echo ") && $0.contains(" icanon ") }
    #expect(try screen.property("#{alternate_on} #{cursor_flag}") == "0 1")
  }

  @Test("with LC_ALL=C, the view is ASCII")
  func ascii() throws {
    let daemon = try RunningDaemon.following()
    let screen = try watching(daemon, environment: ["LC_ALL": "C"])
    try daemon.change(1)
    let text = try screen.wait("the change") { $0.contains("on <- shiftPressed") }
    #expect(text.utf8.allSatisfy { $0 < 0x80 })
  }

  @Test("without a daemon, the advice is broken at a space")
  func advice() throws {
    let folder = String(repeating: "x", count: 60)
    let screen = try TerminalScreen(columns: 80)
    try screen.type("keymodectl watch --socket-dir \(folder)")
    try screen.wait("the advice") {
      $0.contains("\nstart one with 'keymoded --socket-dir\n\(folder)'")
    }
  }

  @Test("the view can be stopped, and is drawn again when it is continued")
  func stop() throws {
    let daemon = try RunningDaemon.following()
    let screen = try watching(daemon)
    try screen.press("C-z")
    try screen.wait("the shell") { $0.contains("Stopped") && $0.hasSuffix("ready>") }
    #expect(try screen.property("#{alternate_on} #{cursor_flag}") == "0 1")
    try daemon.trigger("shiftPressed")
    try screen.type("fg")
    try screen.wait("the view") { $0.contains("on ← shiftPressed") }
    #expect(try screen.property("#{alternate_on} #{cursor_flag}") == "1 0")
  }

  @Test("watch prints lines with --lines and on a dumb terminal")
  func lines() throws {
    let daemon = try RunningDaemon.following()
    let folder = daemon.folder.path
    let screen = try TerminalScreen(environment: ["KEYMODED_SOCKET_DIR": folder])
    try screen.type("TERM=dumb keymodectl watch")
    try screen.wait("a line") { $0.contains(" shift is off, keyboard is prepareToEditText") }
    try screen.press("C-c")
    try daemon.trigger("shiftPressed")
    try screen.type("clear; keymodectl watch --lines")
    try screen.wait("a line") { $0.contains(" shift is on, keyboard is prepareToEditText") }
    #expect(try screen.property("#{alternate_on}") == "0")
  }
}
