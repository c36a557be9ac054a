/// A place in a document: line and column as editors count them, from 1.
public struct Mark: Hashable, Comparable, Sendable {
  /// The line, from 1.
  public let line: Int
  /// The column in characters, from 1.
  public let column: Int

  /// The place with these numbers.
  public init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  /// Whether `lhs` comes first in the document.
  public static func < (lhs: Mark, rhs: Mark) -> Bool {
    (lhs.line, lhs.column) < (rhs.line, rhs.column)
  }
}

/// A value of a YAML document, and where it stands.
public struct Node: Hashable, Sendable {
  /// What kind of value.
  public enum Content: Hashable, Sendable {
    /// Text. Whether it was quoted makes no difference here.
    case scalar(String)
    /// A list.
    case sequence([Node])
    /// Keys and their values, in order; a key may stand there twice.
    case mapping([(key: Node, value: Node)])

    /// Whether both are the same, places included.
    public static func == (lhs: Content, rhs: Content) -> Bool {
      switch (lhs, rhs) {
      case (.scalar(let lhs), .scalar(let rhs)): lhs == rhs
      case (.sequence(let lhs), .sequence(let rhs)): lhs == rhs
      case (.mapping(let lhs), .mapping(let rhs)): lhs.elementsEqual(rhs, by: ==)
      case (.scalar, _), (.sequence, _), (.mapping, _): false
      }
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
      switch self {
      case .scalar(let text): hasher.combine(text)
      case .sequence(let nodes): hasher.combine(nodes)
      case .mapping(let pairs):
        for (key, value) in pairs {
          hasher.combine(key)
          hasher.combine(value)
        }
      }
    }
  }

  /// The value.
  public let content: Content
  /// Where it begins.
  public let mark: Mark

  /// The value `content` at `mark`.
  public init(_ content: Content, at mark: Mark) {
    self.content = content
    self.mark = mark
  }
}

/// Why a text is not the YAML that was wanted, and where.
public struct YAMLError: Error, Hashable {
  /// The place.
  public let mark: Mark
  /// What is wrong, in words.
  public let message: String
  /// Where it is in bytes from the start, if only that is known and `mark` only comes before it.
  public let byte: Int?

  /// The error with these parts.
  public init(_ message: String, at mark: Mark, byte: Int? = nil) {
    self.mark = mark
    self.message = message
    self.byte = byte
  }
}
