/// An error in a YAML text, and its position.
public struct YAMLError: Error, Hashable {
  /// The position.
  public let mark: Mark
  /// The error in words.
  public let message: String
  /// The offset in bytes, if the exact line and column are not known. Then `mark` is before it.
  public let byte: Int?

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

  /// The place with these numbers.
  public init(line: Int, column: Int) { (self.line, self.column) = (line, column) }

  /// Whether `lhs` comes first in the document.
  public static func < (lhs: Mark, rhs: Mark) -> Bool {
    (lhs.line, lhs.column) < (rhs.line, rhs.column)
  }
}
