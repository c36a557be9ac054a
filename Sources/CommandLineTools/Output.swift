import Glibc
public import JSON
public import SystemCalls

/// A buffered stream of text to standard output.
///
/// When its reader has closed it, as `head` and `grep -q` do, the program ends
/// quietly, with exit status 0.
public struct Output: ~Copyable {
  private var buffer: [UInt8] = []
  private static let capacity = 32768

  /// A stream whose buffer is empty.
  public init() { buffer.reserveCapacity(Self.capacity) }

  /// Adds `text` and a line end.
  public mutating func line(_ text: TerminalText) {
    buffer.append(contentsOf: text.description.utf8)
    endLine()
  }

  /// Adds a line of JSON, which escapes everything that a terminal would act on.
  public mutating func line(json value: some JSONWritable) { line { value.write(to: &$0) } }

  /// Writes `text` and a line end to standard output.
  public static func print(_ text: TerminalText) { print(text, json: String?.none) }

  /// Writes `json` to standard output or, if it is `nil`, `text`; and a line end.
  public static func print(_ text: TerminalText, json: (some JSONWritable)?) {
    var output = Output()
    if let json { output.line(json: json) } else { output.line(text) }
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
    if buffer.count >= Self.capacity - 1024 { flush() }
  }

  /// Writes the buffer; ends the program if that fails.
  public mutating func flush() {
    let result = buffer.withUnsafeBytes { bytes in
      Result { () throws(SystemError) in try writeAll(bytes, to: STDOUT_FILENO, "standard output") }
    }
    if case .failure(let error) = result {
      if error.code == EPIPE { exit(0) }
      complain("\(error)")
      exit(1)
    }
    buffer.removeAll(keepingCapacity: true)
  }
}
