/// A value of a YAML document, with its position.
public struct Node: Hashable, Sendable {
  /// The content of a value.
  public enum Content: Hashable, Sendable {
    /// A text, quoted or not.
    case scalar(String)
    /// A list.
    case sequence([Node])
    /// Keys and their values, in order. A key may occur twice.
    case mapping([Pair])
  }

  /// A key of a mapping, with its value.
  public struct Pair: Hashable, Sendable {
    /// The key.
    public let key: Node
    /// The value.
    public let value: Node
  }

  /// The value.
  public let content: Content
  /// Where it begins.
  public let mark: Mark
}
