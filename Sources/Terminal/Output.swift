import Glibc

/// A buffered stream of text to standard output.
///
/// When its reader has closed it, as `head` and `grep -q` do, the program ends
/// quietly, with exit status 0.
public struct Output: ~Copyable {
  private var buffer: [UInt8] = []
  /// The size of the buffer above which its whole lines are written, in bytes.
  private let limit: Int
  /// Where the last line begins.
  private var lastLine = 0

  /// A stream whose buffer is empty.
  ///
  /// - Parameter isShared: whether other processes may write to the same pipe meanwhile: then each
  ///   line is written as a whole, if it is not longer than 4,096 bytes.
  public init(isShared: Bool = false) {
    var status = stat()
    let isPipe = fstat(STDOUT_FILENO, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    // A pipe takes so many bytes as a whole, or waits until it has room for them.
    limit = isShared && isPipe ? Int(PIPE_BUF) : 32768
    buffer.reserveCapacity(limit + 1024)
  }

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
    if buffer.count > limit {
      write(lastLine)
      if buffer.count > limit { flush() }
    }
    lastLine = buffer.count
  }

  /// Writes the buffer; ends the program if that fails.
  public mutating func flush() {
    write(buffer.count)
    lastLine = 0
  }

  /// Writes the first `count` bytes of the buffer, and removes them.
  private mutating func write(_ count: Int) {
    let result = buffer.withUnsafeBytes { bytes in
      Result { () throws(SystemError) in
        let lines = UnsafeRawBufferPointer(rebasing: bytes[..<count])
        try writeAll(lines, to: STDOUT_FILENO, "standard output")
      }
    }
    if case .failure(let error) = result {
      if error.code == EPIPE { exit(0) }
      complain("\(error)")
      exit(1)
    }
    buffer.removeFirst(count)
  }
}
