/// A value of a YAML document, with its position.
struct Node: Hashable, Sendable {
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
    let key: Node
    let value: Node
  }

  let content: Content
  /// Where the value begins.
  let mark: Mark
}
