extension UInt8 {
  static let space = UInt8(ascii: " ")
  static let tab = UInt8(ascii: "\t")
}

/// Splits a line into fields, which spaces and tabs separate.
struct Fields {
  private let line: UnsafeRawBufferPointer
  private var position: Int

  init(_ line: UnsafeRawBufferPointer, from position: Int) {
    self.line = line
    self.position = position
  }

  /// The next field; `nil` at the end of the line. The character `mark` ends a field too.
  mutating func next(orEndAt mark: UInt8 = .space) -> UnsafeRawBufferPointer? {
    skipSpace()
    let start = position
    while position < line.count, line[position] != .space, line[position] != .tab,
      line[position] != mark
    { position += 1 }
    return start < position ? UnsafeRawBufferPointer(rebasing: line[start..<position]) : nil
  }

  /// The next field, which the line of an event has to have.
  mutating func next(
    _ name: String, orEndAt mark: UInt8 = .space
  ) throws(LineFault) -> UnsafeRawBufferPointer {
    guard let field = next(orEndAt: mark) else { throw LineFault("an event without a \(name)") }
    return field
  }

  /// The text between these two characters, without the spaces before it; `nil` if the next
  /// character is not `first`, or `last` is missing.
  mutating func next(between first: UInt8, and last: UInt8) -> UnsafeRawBufferPointer? {
    skipSpace()
    let rest = line[position...]
    guard rest.first == first, let end = rest.firstIndex(of: last) else { return nil }
    let inside = rest[(position + 1)..<end].drop { $0 == .space || $0 == .tab }
    position = end + 1
    return UnsafeRawBufferPointer(rebasing: inside)
  }

  /// Skips this character, if it is next.
  mutating func skip(_ mark: UInt8) {
    if position < line.count, line[position] == mark { position += 1 }
  }

  /// Skips everything up to this text, and the text too unless `isKept` is true. Returns whether
  /// the line contains the text; if not, nothing is skipped.
  mutating func skip(to text: StaticString, keepingIt isKept: Bool = false) -> Bool {
    let rest = UnsafeRawBufferPointer(rebasing: line[position...])
    guard let offset = rest.firstOffset(of: text) else { return false }
    position += offset + (isKept ? 0 : text.utf8CodeUnitCount)
    return true
  }

  /// Whether any character follows, even a space.
  var hasMore: Bool { position < line.count }

  private mutating func skipSpace() {
    while position < line.count, line[position] == .space || line[position] == .tab {
      position += 1
    }
  }
}
