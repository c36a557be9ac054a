/// A value of a YAML document, with its position.
struct Node: Hashable, Sendable {
  /// The content of a value.
  enum Content: Hashable, Sendable {
    /// A text, quoted or not.
    case scalar(String)
    /// A list.
    case sequence([Node])
    /// Keys and their values, in order. A key may occur twice.
    case mapping([Pair])
  }

  /// A key of a mapping, with its value.
  struct Pair: Hashable, Sendable {
    /// The key.
    let key: Node
    /// The value.
    let value: Node
  }

  /// The value.
  let content: Content
  /// Where it begins.
  let mark: Mark
}
