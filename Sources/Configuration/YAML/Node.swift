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

  /// Where `part` of a text is, if the file has the text as it is, in quotes or not.
  func mark(of part: some StringProtocol) -> Mark {
    guard case .scalar(let text) = content, !part.isEmpty else { return mark }
    let (whole, part) = (Array(text.unicodeScalars), Array(String(part).unicodeScalars))
    let quotes = mark.length - whole.count
    guard [0, 2].contains(quotes), whole.count >= part.count,
      let place = (0...whole.count - part.count).last(where: { whole[$0...].starts(with: part) })
    else { return mark }
    return Mark(
      file: mark.file, line: mark.line, column: mark.column + quotes / 2 + place,
      length: part.count)
  }
}
