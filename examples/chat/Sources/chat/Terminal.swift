import Foundation

/// A terminal that reports what the user does at it, and shows whole screens.
final class Terminal: Sendable {
  private let before: termios

  /// The ends of a pipe into which the handler of signals writes their numbers.
  private static let signals: (outlet: Int32, inlet: Int32) = {
    var ends: [Int32] = [-1, -1]
    pipe(&ends)
    return (ends[0], ends[1])
  }()

  /// Turns off echo and line editing, switches to the alternate screen, and asks for clicks.
  ///
  /// Lines do not wrap: one that the terminal draws wider than the chat expects moves no other.
  init() {
    var settings = termios()
    tcgetattr(STDIN_FILENO, &settings)
    before = settings
    settings.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
    tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    write("\u{1b}[?1049h\u{1b}[?7l\u{1b}[?1000h\u{1b}[?1006h")
  }

  /// Restores the screen and the settings.
  func restore() {
    write("\u{1b}[?1006l\u{1b}[?1000l\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l")
    var settings = before
    tcsetattr(STDIN_FILENO, TCSANOW, &settings)
  }

  /// The numbers of rows and columns.
  var size: (rows: Int, columns: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0, size.ws_col > 0
    else { return (24, 80) }
    return (Int(size.ws_row), Int(size.ws_col))
  }

  /// Shows these lines, one in each row.
  ///
  /// The cursor stays where the terminal leaves it, behind the last line's text. So it is in the right
  /// place even if this program and the terminal disagree on the width of a character, and an input
  /// method shows its candidates there.
  func draw(_ lines: [String], hasCursor: Bool) {
    let rows = lines.map { "\u{1b}[K\($0)" }.joined(separator: "\r\n")
    write("\u{1b}[?25l\u{1b}[H\(rows)\(hasCursor ? "\u{1b}[?25h" : "")")
  }

  /// Calls `handler` for each action, with the time at which it was read: microseconds on
  /// `CLOCK_BOOTTIME`, the clock of keymoded's changes. Calls it with `nil` after Ctrl+C, after a
  /// signal that ends programs, or when the terminal is gone.
  func read(_ handler: @escaping @Sendable (Action?, _ time: Int64) -> Void) {
    let signals = Terminal.signals
    for number in [SIGWINCH, SIGTERM, SIGHUP, SIGINT, SIGQUIT] {
      // The shortest handler there is: it may interrupt any thread anywhere.
      signal(number) { number in
        let error = errno
        var byte = UInt8(truncatingIfNeeded: number)
        _ = Foundation.write(Terminal.signals.inlet, &byte, 1)
        errno = error
      }
    }
    Thread.detachNewThread {
      var parser = ActionParser()
      var bytes = [UInt8](repeating: 0, count: 4096)
      var entries = [STDIN_FILENO, signals.outlet].map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      while true {
        // A terminal sends a whole sequence at once: Esc without more was the key.
        let ready = poll(&entries, 2, parser.isInside ? 50 : -1)
        if ready == 0 { parser = ActionParser() }
        guard ready > 0 else { continue }
        if entries[1].revents != 0 {
          let count = Foundation.read(signals.outlet, &bytes, bytes.count)
          let ends = bytes.prefix(max(0, count)).contains { $0 != UInt8(SIGWINCH) }
          handler(ends ? nil : .resize, Terminal.now)
          if ends { return }
        }
        guard entries[0].revents != 0 else { continue }
        let count = Foundation.read(STDIN_FILENO, &bytes, bytes.count)
        let time = Terminal.now
        let actions = parser.parse(bytes.prefix(max(0, count)))
        for action in actions.prefix(while: { $0 != .interrupt }) { handler(action, time) }
        if count <= 0 || actions.contains(.interrupt) { return handler(nil, time) }
      }
    }
  }

  private static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }

  private func write(_ text: String) {
    FileHandle.standardOutput.write(Data(text.utf8))
  }
}
