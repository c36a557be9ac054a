import Foundation
import TestSupport
import Testing

/// A shell in a pseudo-terminal of tmux, which shows tests what is on the screen.
final class TerminalScreen {
  private let folder: TemporaryFolder

  /// Starts a shell; by default dash, which is simple.
  init(
    columns: Int = 80, rows: Int = 16, environment: [String: String] = [:],
    shell: String = "/bin/dash -i"
  ) throws {
    folder = try TemporaryFolder()
    let settings = ["PS1": "ready> ", "TZ": "UTC", "LC_ALL": "C.UTF-8"].merging(environment) { $1 }
    let assignments = settings.map { "\($0)='\($1)'" }.joined(separator: " ")
    let ended = try run(
      "/usr/bin/python3",
      [
        "-c", TerminalScreen.asByALogin, "/usr/bin/tmux", "-S", "\(folder.path)/tmux",
        "-f", "/dev/null", "new-session", "-d", "-x", "\(columns)", "-y", "\(rows)",
        "env \(assignments) PATH='\(Place.programs)':/usr/bin:/bin \(shell)",
      ])
    try #require(ended.status == 0, "\(ended.errors)")
    try wait("a prompt") { $0.contains("ready>") }
  }

  deinit { _ = try? tmux("kill-server") }

  /// Runs a program without inherited descriptors and blocked signals. Starting a session leaves a
  /// server behind, which must not hold open the descriptor by whose end Foundation sees that the
  /// program has ended, and must not block the signals that threads of the tests block, because
  /// `kill-server` sends one.
  private static let asByALogin = """
    import os, signal, sys
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    os.closerange(3, 1024)
    os.execv(sys.argv[1], sys.argv[1:])
    """

  @discardableResult
  private func tmux(_ arguments: String...) throws -> String {
    let ended = try run("/usr/bin/tmux", ["-S", "\(folder.path)/tmux"] + arguments)
    try #require(ended.status == 0, "\(ended.errors)")
    return ended.output
  }

  /// Types text, and then Enter.
  func type(_ text: String) throws {
    try write(text)
    try press("Enter")
  }

  /// Types text.
  func write(_ text: String) throws { try tmux("send-keys", "-l", text) }

  /// Presses a key, by tmux's name for it.
  func press(_ key: String) throws { try tmux("send-keys", key) }

  func resize(columns: Int, rows: Int) throws {
    try tmux("resize-window", "-x", "\(columns)", "-y", "\(rows)")
  }

  /// The lines on the screen, without empty ones at the end.
  func text(withColors: Bool = false) throws -> String {
    try tmux("capture-pane", withColors ? "-pe" : "-p").replacing(/\n+$/, with: "")
  }

  /// The value of a tmux format for the screen, such as `#{cursor_flag}`.
  func property(_ format: String) throws -> String {
    try tmux("display-message", "-p", format).trimmingCharacters(in: .newlines)
  }

  /// Waits until `isThere` is true of the text on the screen, and returns that text. A program's
  /// output may appear in parts, so `isThere` must check everything that the test needs.
  @discardableResult
  func wait(
    _ what: String, withColors: Bool = false, until isThere: (String) throws -> Bool
  ) throws -> String {
    var seen = ""
    do {
      try TestSupport.wait(for: what) {
        seen = try text(withColors: withColors)
        return try isThere(seen)
      }
    } catch is TimedOut {
      throw NotSeen(what: what, screen: seen)
    }
    return seen
  }

  private struct NotSeen: Error, CustomStringConvertible {
    let what: String
    let screen: String
    var description: String { "\(what) never came:\n\(screen)" }
  }
}
