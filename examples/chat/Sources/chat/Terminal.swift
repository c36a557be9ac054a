import Foundation

/// A terminal that reports keys and clicks one by one, and shows whole screens.
final class Terminal: Sendable {
  private let before: termios

  /// Turns off echo and line editing, switches to the alternate screen, and asks for clicks.
  init() {
    var settings = termios()
    tcgetattr(STDIN_FILENO, &settings)
    before = settings
    settings.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
    tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    write("\u{1b}[?1049h\u{1b}[?25l\u{1b}[?1000h\u{1b}[?1006h")
  }

  /// Restores the screen and the settings.
  func restore() {
    write("\u{1b}[?1006l\u{1b}[?1000l\u{1b}[?25h\u{1b}[?1049l")
    var settings = before
    tcsetattr(STDIN_FILENO, TCSANOW, &settings)
  }

  /// The number of rows.
  var rows: Int {
    var size = winsize()
    return ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 ? max(2, Int(size.ws_row)) : 24
  }

  /// Shows these lines, one in each row.
  func draw(_ lines: [String]) {
    write("\u{1b}[H" + lines.map { "\($0)\u{1b}[K" }.joined(separator: "\r\n"))
  }

  /// Calls `handler` for each key, and with `nil` after Ctrl+C or when the terminal is gone.
  func read(_ handler: @escaping @Sendable (Key?) -> Void) {
    Thread.detachNewThread {
      var next: UInt8?
      while let byte = next ?? Terminal.byte(), byte != 3 {
        next = nil
        switch byte {
        case 9: handler(.tab)
        case 10, 13: handler(.enter)
        case 8, 127: handler(.backspace)
        case 27 where Terminal.hasMore():
          switch Terminal.byte() {
          case UInt8(ascii: "["): if let row = Terminal.click() { handler(.click(row: row)) }
          case UInt8(ascii: "O"): _ = Terminal.byte()  // F1 to F4
          case let control? where control < 32: next = control
          default: break  // Alt and a key
          }
        case 32..<127: handler(.character(Character(UnicodeScalar(byte))))
        default: break  // this example accepts only ASCII
        }
      }
      handler(nil)
    }
  }

  /// Whether more bytes follow Esc: a terminal sends a whole sequence at once, a person does not.
  private static func hasMore() -> Bool {
    var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 50) > 0
  }

  /// Reads a button press, `ESC [ < BUTTON ; COLUMN ; ROW M`, after its first two bytes.
  ///
  /// - Returns: its row, or `nil` if the sequence is something else.
  private static func click() -> Int? {
    var text = ""
    while let byte = byte() {
      if (0x40...0x7e).contains(byte), byte != UInt8(ascii: "<") {
        let numbers = text.dropFirst().split(separator: ";").compactMap { Int($0) }
        return byte == UInt8(ascii: "M") && numbers.count == 3 ? numbers[2] - 1 : nil
      }
      text.append(Character(UnicodeScalar(byte)))
    }
    return nil
  }

  private static func byte() -> UInt8? {
    var byte: UInt8 = 0
    return Foundation.read(STDIN_FILENO, &byte, 1) == 1 ? byte : nil
  }

  private func write(_ text: String) {
    FileHandle.standardOutput.write(Data(text.utf8))
  }
}
