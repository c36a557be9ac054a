/// An error in a YAML text, and its position.
struct YAMLError: Error, Hashable {
  let mark: Mark
  let message: String

  init(_ message: String, at mark: Mark) { (self.message, self.mark) = (message, mark) }
}

/// A position in the files of a configuration: line and column as editors count them, from 1.
public struct Mark: Hashable, Comparable, Sendable {
  /// The index of the file.
  var file = 0
  /// The line, from 1.
  public let line: Int
  /// The column in characters, from 1.
  public let column: Int
  /// How many characters the excerpt of an error marks from this position on.
  var length = 1

  /// Whether `lhs` comes first in the files.
  public static func < (lhs: Mark, rhs: Mark) -> Bool {
    (lhs.file, lhs.line, lhs.column) < (rhs.file, rhs.line, rhs.column)
  }
}

/// The lines of a text, without line ends.
func splitLines(of text: some Sequence<UInt8>) -> [Substring] {
  String(decoding: Array(text), as: UTF8.self)
    .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
}
