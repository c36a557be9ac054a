/// A position in a document: line and column as editors count them, from 1.
public struct Mark: Hashable, Comparable, Sendable {
  /// The line, from 1.
  public let line: Int
  /// The column in characters, from 1.
  public let column: Int

  /// The position with these numbers.
  public init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  /// Whether `lhs` comes first in the document.
  public static func < (lhs: Mark, rhs: Mark) -> Bool {
    (lhs.line, lhs.column) < (rhs.line, rhs.column)
  }
}
