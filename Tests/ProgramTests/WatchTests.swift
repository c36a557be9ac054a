import Foundation
import JSON
import TestSupport
import Testing

@Suite("keymodectl watch on a terminal")
struct WatchTests {
  private func watching(
    _ daemon: KeptDaemon, columns: Int = 80, rows: Int = 16, environment: [String: String] = [:]
  ) throws -> TerminalScreen {
    let settings = environment.merging(["KEYMODED_SOCKET_DIR": daemon.folder.path]) { $1 }
    let screen = try TerminalScreen(columns: columns, rows: rows, environment: settings)
    try screen.type("keymodectl watch")
    try screen.wait("the view") { $0.hasPrefix("connected to ") }
    return screen
  }

  /// Without what the clock says.
  private func steady(_ text: String) -> String {
    text.replacing(/\d\d:\d\d:\d\d/, with: "HH:MM:SS").replacing(/for \d s/, with: "for N s")
  }

  @Test("shows both machines side by side, and what has happened")
  func view() throws {
    let daemon = try KeptDaemon()
    let screen = try watching(daemon)
    let place = daemon.folder.path
    #expect(
      try screen.text() == """
        connected to keymoded in \(place)

                  shift                      keyboard
                  off                        prepareToEditText
        """)
    try daemon.trigger("shiftPressed", "tapTextField", "characterTyped", "clickSwitchButton")
    let text = try screen.wait("the last change") { $0.contains("← clickSwitchButton") }
    #expect(
      steady(text) == """
        connected to keymoded in \(place)

                  shift                      keyboard
                  off                        prepareToRecord
                  for N s                    for N s

        HH:MM:SS                             prepareToRecord ← clickSwitchButton
        HH:MM:SS  off ← characterTyped
        HH:MM:SS                             editingText ← tapTextField
        HH:MM:SS  on ← shiftPressed
        """)
    let clock = try #require(text.firstMatch(of: /(\d\d):(\d\d):\d\d/))
    let now = Int(Date().timeIntervalSince1970) / 60 % 1440
    let shown = try #require(Int(clock.1)) * 60 + #require(Int(clock.2))
    #expect((now - shown + 1440) % 1440 <= 1, "the time of day")
    try screen.wait("the second hand") { $0.contains("for 2 s") }
  }

  @Test("stands times as far apart as a recording can have them", arguments: [80, 12])
  func farTimes(_ columns: Int) throws {
    let daemon = try RunningDaemon(
      recording: """
        # EVEMU 1.3
        E: 0.000001 0001 002a 0001
        E: 0.000001 0001 002a 0000
        E: 9223372036854.775807 0001 006e 0001

        """)
    let screen = try TerminalScreen(
      columns: columns, rows: 8, environment: ["KEYMODED_SOCKET_DIR": daemon.folder.path])
    try screen.type("keymodectl watch")
    let text = try screen.wait("the view") { $0.contains("for ") }
    #expect(text.hasPrefix("connected"))
  }

  @Test("says that the daemon has ended, waits for it, and goes on where it was")
  func restart() throws {
    let daemon = try KeptDaemon()
    let screen = try watching(daemon)
    let place = daemon.folder.path
    try daemon.trigger("shiftPressed")
    try screen.wait("the change") { $0.contains("on ← shiftPressed") }
    daemon.stop()
    let away = try screen.wait("the end") { $0.hasPrefix("waiting for ") }
    #expect(
      steady(away) == """
        waiting for keymoded in \(place)

                  shift                      keyboard
                  on                         prepareToEditText
                  unknown                    unknown

        HH:MM:SS  keymoded has ended
        HH:MM:SS  on ← shiftPressed
        """)
    try daemon.start()
    let again = try screen.wait("it again") { $0.hasPrefix("connected to ") }
    #expect(again.contains("  connected again\n"))
    #expect(!again.contains("missed"))
    #expect(steady(again).contains("          on                         prepareToEditText\n"))

    daemon.stop()
    daemon.forget()
    try screen.wait("the end") { $0.hasPrefix("waiting for ") }
    try daemon.start()
    let forgotten = try screen.wait("it again") { $0.hasPrefix("connected to ") }
    #expect(steady(forgotten).contains("\nHH:MM:SS  missed some changes\n"))
    #expect(forgotten.contains("          off                        prepareToEditText\n"))
  }

  @Test(
    "fits whatever terminal there is",
    arguments: [(200, 50), (80, 16), (73, 12), (38, 12), (30, 8), (12, 5), (3, 2), (1, 1)])
  func size(_ columns: Int, _ rows: Int) throws {
    let daemon = try KeptDaemon()
    let screen = try watching(daemon)
    try daemon.trigger(
      "shiftPressed", "shiftPressed", "clickMoreButton", "clickMoreButton",
      "clickSwitchButton")
    try screen.wait("the last change") { $0.contains("← clickSwitchButton") }
    try screen.resize(columns: columns, rows: rows)
    // Each size has its own first line, cut where the terminal ends; the next is never wrapped.
    let first = "connected to keymoded in \(daemon.folder.path)"
    let cut = first.count <= columns ? first : first.prefix(columns - 1) + "…"
    let text = try screen.wait("the view for \(columns) columns") {
      let lines = $0.split(separator: "\n")
      guard lines.first.map(String.init) == cut else { return false }
      return columns < 20 || lines.contains { $0.contains("prepareToRecord") }
    }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count <= rows)
    #expect(lines.allSatisfy { $0.count <= columns })
    if columns >= 38 { #expect(text.contains("\n          capsLock ")) }
    if columns == 30 { #expect(text.contains("\ncapsLock  prepareToRecord\n")) }
  }

  @Test("has colours, but for who wants none")
  func colors() throws {
    let daemon = try KeptDaemon()
    try daemon.trigger("shiftPressed", "shiftPressed")
    let colored = try watching(daemon)
    #expect(try colored.text(withColors: true).contains("\u{1b}[1m\u{1b}[31mcapsLock"))
    let plain = try watching(daemon, environment: ["NO_COLOR": "1"])
    #expect(try plain.text().contains("capsLock"))
    #expect(try !plain.text(withColors: true).contains("\u{1b}"))
  }

  @Test("gives the terminal back as it was", arguments: ["C-c", "q", "C-\\"])
  func end(_ key: String) throws {
    let daemon = try KeptDaemon()
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

  @Test("can be stopped, and draws anew when it goes on")
  func stop() throws {
    let daemon = try KeptDaemon()
    let screen = try watching(daemon)
    try screen.press("C-z")
    try screen.wait("the shell") { $0.contains("Stopped") && $0.hasSuffix("ready>") }
    #expect(try screen.property("#{alternate_on} #{cursor_flag}") == "0 1")
    try daemon.trigger("shiftPressed")
    try screen.type("fg")
    try screen.wait("the view") { $0.contains("on ← shiftPressed") }
    #expect(try screen.property("#{alternate_on} #{cursor_flag}") == "1 0")
  }

  @Test("says what is wrong where there is no daemon, and prints lines where that is wanted")
  func lines() throws {
    let daemon = try KeptDaemon()
    let folder = daemon.folder.path
    let screen = try TerminalScreen(environment: ["KEYMODED_SOCKET_DIR": folder])
    try screen.type("keymodectl watch --socket-dir /nowhere; echo ended with $?")
    try screen.wait("the end") {
      $0.contains("no keymoded is serving at '/nowhere/") && $0.contains("\nended with 3\n")
    }
    try screen.type("TERM=dumb keymodectl watch")
    try screen.wait("a line") { $0.contains(" shift is off, keyboard is prepareToEditText") }
    try screen.press("C-c")
    try daemon.trigger("shiftPressed")
    try screen.type("clear; keymodectl watch --lines")
    try screen.wait("a line") { $0.contains(" shift is on, keyboard is prepareToEditText") }
    #expect(try screen.property("#{alternate_on}") == "0")
  }
}
