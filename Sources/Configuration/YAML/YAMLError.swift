/// An error in a YAML text, and its position.
struct YAMLError: Error, Hashable {
  /// The position.
  let mark: Mark
  /// The error in words.
  let message: String
  /// The offset in bytes, if the exact line and column are not known. Then `mark` is before it.
  let byte: Int?

  static let noAliases = "a text that begins with '*' needs quotes: there are no aliases"

  init(_ message: String, at mark: Mark, byte: Int? = nil) {
    self.mark = mark
    self.message = message
    self.byte = byte
  }
}

/// A position in the files of a configuration: line and column as editors count them, from 1.
public struct Mark: Hashable, Comparable, Sendable {
  /// Which of the files it is in, from 0.
  var file = 0
  /// The line, from 1.
  public let line: Int
  /// The column in characters, from 1.
  public let column: Int
  /// How many characters it is about.
  var length = 1

  /// Whether `lhs` comes first in the files.
  public static func < (lhs: Mark, rhs: Mark) -> Bool {
    (lhs.file, lhs.line, lhs.column) < (rhs.file, rhs.line, rhs.column)
  }
}
