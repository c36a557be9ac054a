import Glibc

/// The path of a file as the system has it: any bytes except 0, which need not be UTF-8.
public struct FilePath: Sendable {
  /// The path as text, for people and programs to read; each byte that is not UTF-8 is written as
  /// `\xe9`.
  public let text: String

  /// The bytes with a 0 at their end, if they are not UTF-8.
  private let bytes: [CChar]?

  /// The path with this text.
  public init(_ text: String) { self.init(text, bytes: nil) }

  private init(_ text: String, bytes: [CChar]?) {
    self.text = text
    self.bytes = bytes
  }

  /// The path that ends with a 0.
  public init(cString: UnsafePointer<CChar>) {
    if let text = String(validatingCString: cString) {
      self.init(text)
    } else {
      let count = strlen(cString)
      self.init(
        readable(UnsafeRawBufferPointer(start: cString, count: count)),
        bytes: Array(UnsafeBufferPointer(start: cString, count: count + 1)))
    }
  }

  /// Whether the path is UTF-8.
  public var isText: Bool { bytes == nil }

  /// Calls `body` with the path, which ends with a 0.
  func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    guard let bytes else { return text.withCString(body) }
    return bytes.withUnsafeBufferPointer { bytes in
      guard let start = bytes.baseAddress else { preconditionFailure("a path without an end") }
      return body(start)
    }
  }
}

/// These bytes as text, with `\xe9` for each byte that is not UTF-8.
private func readable(_ bytes: UnsafeRawBufferPointer) -> String {
  var text = String.UnicodeScalarView()
  var parser = Unicode.UTF8.ForwardParser()
  var rest = bytes.makeIterator()
  var index = 0
  while true {
    switch parser.parseScalar(from: &rest) {
    case .valid(let scalar):
      text.append(Unicode.UTF8.decode(scalar))
      index += scalar.count
    case .error(let length):
      // All bytes from 0x80 on have two digits.
      for byte in bytes[index..<index + length] {
        text.append(contentsOf: "\\x\(String(byte, radix: 16))".unicodeScalars)
      }
      index += length
    case .emptyInput:
      return String(text)
    }
  }
}
