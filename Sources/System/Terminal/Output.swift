import Glibc
public import System

/// A buffered stream of text to standard output.
///
/// Methods throw if writing fails. A program whose reader has closed the stream, as `head` and
/// `grep -q` do, ends quietly; see ``hasNoReader(_:)``.
public struct Output: ~Copyable {
  private var buffer: [UInt8] = []
  /// The number of bytes above which the buffer is written.
  private static let limit = 32768

  /// A stream whose buffer is empty.
  public init() { buffer.reserveCapacity(Self.limit + 1024) }

  /// Adds `text` and a line end.
  public mutating func line(_ text: TerminalText) throws(SystemError) {
    buffer.append(contentsOf: text.description.utf8)
    try endLine()
  }

  /// Writes `text` and a line end to standard output.
  public static func print(_ text: TerminalText) throws(SystemError) {
    var output = Output()
    try output.line(text)
    try output.flush()
  }

  /// Adds the bytes that `body` appends, and a line end. The bytes are written unchanged: `body`
  /// must escape untrusted text itself, as a JSON writer does.
  public mutating func line(_ body: (inout [UInt8]) -> Void) throws(SystemError) {
    body(&buffer)
    try endLine()
  }

  private mutating func endLine() throws(SystemError) {
    buffer.append(UInt8(ascii: "\n"))
    if buffer.count > Self.limit { try flush() }
  }

  /// Writes the buffer.
  public mutating func flush() throws(SystemError) {
    defer { buffer.removeAll(keepingCapacity: true) }
    try writeAll(buffer, to: STDOUT_FILENO, Self.name)
  }

  private static let name = "standard output"

  /// Whether an error says that the reader of standard output has closed the stream.
  public static func hasNoReader(_ error: any Error) -> Bool {
    error as? SystemError == SystemError("write", name, code: EPIPE)
  }
}
