/// A value of a YAML document, with its position.
public struct Node: Hashable, Sendable {
  /// The content of a value.
  public enum Content: Hashable, Sendable {
    /// A text, quoted or not.
    case scalar(String)
    /// A list.
    case sequence([Node])
    /// Keys and their values, in order. A key may occur twice.
    case mapping([(key: Node, value: Node)])

    /// Whether both are the same, with the same positions.
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
