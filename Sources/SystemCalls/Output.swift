import Glibc

/// A buffered stream of text to an open descriptor.
///
/// When the reader of standard output has closed it, as `head` and `grep -q` do, the program ends
/// quietly, with exit status 0.
public struct Output: ~Copyable {
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private static let capacity = 32768

  /// A stream to standard output.
  public static func standard() -> Output { Output(descriptor: STDOUT_FILENO) }

  private init(descriptor: Int32) {
    self.descriptor = descriptor
    buffer.reserveCapacity(Self.capacity)
  }

  /// Adds `text` and a line end.
  public mutating func line(_ text: TerminalText) {
    buffer.append(contentsOf: text.description.utf8)
    endLine()
  }

  /// Writes `text` and a line end to standard output.
  public static func print(_ text: TerminalText) {
    var output = standard()
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
    if buffer.count >= Self.capacity - 1024 { flush() }
  }

  /// Writes the buffer; ends the program if that fails.
  public mutating func flush() {
    let result = buffer.withUnsafeBytes { bytes in
      Result { () throws(SystemError) in try writeAll(bytes, to: descriptor, "standard output") }
    }
    if case .failure(let error) = result {
      if error.code == EPIPE { exit(0) }
      complain("\(error)")
      exit(1)
    }
    buffer.removeAll(keepingCapacity: true)
  }
}

/// The name by which this program was called, without its folder.
public let programName: String = {
  let path = CommandLine.arguments.first ?? "keymoded"
  return path.split(separator: "/").last.map(String.init) ?? path
}()

/// Joins words into a list, such as `a, b and c`.
public func listed(_ words: [String], _ conjunction: String = "and") -> String {
  guard words.count > 1, let last = words.last else { return words.joined() }
  return "\(words.dropLast().joined(separator: ", ")) \(conjunction) \(last)"
}

/// Writes `program: message` to standard error.
public func complain(_ message: TerminalText) {
  writeToStandardError("\(programName): \(message)\n")
}

/// Writes `text` to standard error.
public func writeToStandardError(_ text: TerminalText) {
  var text = text.description
  text.withUTF8 { bytes in
    _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count)
  }
}
