/// An error in a YAML text, and its position.
struct YAMLError: Error, Hashable {
  /// The position.
  let mark: Mark
  /// The error in words.
  let message: String
  /// The offset in bytes, if the exact line and column are not known. Then `mark` is before it.
  let byte: Int?

  init(_ message: String, at mark: Mark, byte: Int? = nil) {
    self.mark = mark
    self.message = message
    self.byte = byte
  }
}

/// A position in a document: line and column as editors count them, from 1.
public struct Mark: Hashable, Comparable, Sendable {
  /// The line, from 1.
  public let line: Int
  /// The column in characters, from 1.
  public let column: Int

  /// Whether `lhs` comes first in the document.
  public static func < (lhs: Mark, rhs: Mark) -> Bool {
    (lhs.line, lhs.column) < (rhs.line, rhs.column)
  }
}
