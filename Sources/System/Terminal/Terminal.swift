import Glibc
import System

/// The terminal on standard output, and its alternate screen for drawing.
public final class Terminal {
  private let silentInput = SilentTerminal(STDIN_FILENO)
  private var isEntered = false

  /// The terminal; `nil` if standard output is not a terminal, or `TERM` is unset or `dumb`.
  public init?() {
    let kind = environment("TERM") ?? "dumb"
    guard isatty(STDOUT_FILENO) == 1, kind != "dumb" else { return nil }
  }

  deinit { leave() }

  /// The columns and rows of the terminal on standard output now; 80 and 24 if they are unknown.
  public static var size: (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
    else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// The descriptor on which typed characters arrive one by one, from ``enter()`` to ``leave()``;
  /// `nil` if standard input is not a terminal.
  public var input: Int32? { isatty(STDIN_FILENO) == 1 ? STDIN_FILENO : nil }

  /// Switches to the alternate screen without a cursor, and silences the input.
  public func enter() {
    guard !isEntered else { return }
    // The kernel stops a background program that changes settings. Stop before anything changes.
    if silentInput?.isInForeground == false { raise(SIGTTOU) }
    isEntered = true
    silentInput?.enter()
    write("\u{1b}[?1049h\u{1b}[?25l")
  }

  /// Restores the main screen, the cursor and the input.
  public func leave() {
    guard isEntered else { return }
    isEntered = false
    write("\u{1b}[?25h\u{1b}[?1049l")
    silentInput?.leave()
  }

  /// Shows these lines, and nothing else.
  public func show(_ lines: [TerminalText]) {
    let rows: [TerminalText] = lines.map { "\($0)\u{1b}[K" }
    write("\u{1b}[H\(rows.joined(separator: "\r\n"))\u{1b}[J")
  }

  private func write(_ text: TerminalText) {
    var text = text.description
    text.withUTF8 { bytes in try? writeAll(UnsafeRawBufferPointer(bytes), to: STDOUT_FILENO, "") }
  }
}
