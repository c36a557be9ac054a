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
  public func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    if let bytes { body(bytes) } else { text.withCString(body) }
  }
}

/// These bytes as text, with `\xe9` for each byte that is not UTF-8.
private func readable(_ bytes: UnsafeRawBufferPointer) -> String {
  var text = ""
  var rest = bytes[...]
  while let byte = rest.first {
    // A character has at most four bytes, and all bytes that are not UTF-8 have two digits.
    let valid = (1...4).lazy.compactMap { String(validating: rest.prefix($0), as: UTF8.self) }.first
    text += valid ?? "\\x\(String(byte, radix: 16))"
    rest = rest.dropFirst(valid?.utf8.count ?? 1)
  }
  return text
}
