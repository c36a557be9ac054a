import Glibc
import System

/// A buffered stream of text to standard output.
///
/// When its reader has closed it, as `head` and `grep -q` do, the program ends
/// quietly, with exit status 0.
public struct Output: ~Copyable {
  private var buffer: [UInt8] = []
  /// The size of the buffer above which it is written, in bytes.
  private static let limit = 32768

  /// A stream whose buffer is empty.
  public init() { buffer.reserveCapacity(Self.limit + 1024) }

  /// Adds `text` and a line end.
  public mutating func line(_ text: TerminalText) {
    buffer.append(contentsOf: text.description.utf8)
    endLine()
  }

  /// Writes `text` and a line end to standard output.
  public static func print(_ text: TerminalText) {
    var output = Output()
    output.line(text)
    output.flush()
  }

  /// Adds the bytes that `body` appends, and a line end. They are written unchanged: `body` must
  /// escape untrusted text itself, as a JSON writer does.
  public mutating func line(_ body: (inout [UInt8]) -> Void) {
    body(&buffer)
    endLine()
  }

  private mutating func endLine() {
    buffer.append(UInt8(ascii: "\n"))
    if buffer.count > Self.limit { flush() }
  }

  /// Writes the buffer; ends the program if that fails.
  public mutating func flush() {
    do throws(SystemError) {
      try writeAll(buffer, to: STDOUT_FILENO, "standard output")
    } catch {
      if error.code == EPIPE { exit(0) }
      complain("\(error)")
      exit(1)
    }
    buffer.removeAll(keepingCapacity: true)
  }
}
