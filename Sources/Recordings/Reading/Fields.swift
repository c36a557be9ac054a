import Glibc

extension UInt8 {
  static let space = UInt8(ascii: " ")
  static let tab = UInt8(ascii: "\t")
}

/// Splits a line into fields, which spaces and tabs separate.
struct Fields {
  private let line: UnsafeRawBufferPointer
  private var position: Int

  init(_ line: UnsafeRawBufferPointer, from position: Int = 0) {
    self.line = line
    self.position = position
  }

  /// Whether any character follows, even a space.
  var hasMore: Bool { position < line.count }

  /// What has not been taken.
  private var rest: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: line[position...]) }

  /// The next field; `nil` at the end of the line. The characters of `marks` end a field too.
  mutating func next(
    orEndAt marks: (UInt8, UInt8) = (.space, .tab)
  ) -> UnsafeRawBufferPointer? {
    skipSpace()
    let start = position
    while position < line.count, line[position] != .space, line[position] != .tab,
      line[position] != marks.0, line[position] != marks.1
    { position += 1 }
    return start < position ? UnsafeRawBufferPointer(rebasing: line[start..<position]) : nil
  }

  /// The next field, which the line of an event has to have.
  mutating func next(
    _ name: String, orEndAt mark: UInt8 = .space
  ) throws(LineFault) -> UnsafeRawBufferPointer {
    guard let field = next(orEndAt: (mark, mark)) else {
      throw LineFault("an event without a \(name)")
    }
    return field
  }

  /// The text up to this character, which is skipped, without the spaces before it; `nil` if the
  /// character is missing.
  mutating func next(upTo mark: UInt8) -> UnsafeRawBufferPointer? {
    skipSpace()
    guard let end = line[position...].firstIndex(of: mark) else { return nil }
    defer { position = end + 1 }
    return UnsafeRawBufferPointer(rebasing: line[position..<end])
  }

  /// Skips this text, if it is next, and returns whether it is.
  mutating func skip(_ text: StaticString) -> Bool {
    guard rest.begins(with: text) else { return false }
    position += text.utf8CodeUnitCount
    return true
  }

  /// Skips everything up to this text, and the text too. Returns whether the line contains the text;
  /// if not, nothing is skipped.
  mutating func skip(to text: StaticString) -> Bool {
    guard let offset = rest.firstOffset(of: text) else { return false }
    position += offset + text.utf8CodeUnitCount
    return true
  }

  mutating func skipSpace() {
    while position < line.count, line[position] == .space || line[position] == .tab {
      position += 1
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether these bytes are exactly this text.
  func equals(_ text: StaticString) -> Bool {
    count == text.utf8CodeUnitCount && begins(with: text)
  }

  /// Whether these bytes begin with this text.
  func begins(with text: StaticString) -> Bool {
    guard let base = baseAddress, count >= text.utf8CodeUnitCount else { return false }
    return memcmp(base, text.utf8Start, text.utf8CodeUnitCount) == 0
  }

  /// Whether these bytes end with this text.
  func ends(with text: StaticString) -> Bool {
    UnsafeRawBufferPointer(rebasing: suffix(text.utf8CodeUnitCount)).equals(text)
  }

  /// The offset of the first occurrence of this text, if any.
  func firstOffset(of text: StaticString) -> Int? {
    guard let base = baseAddress else { return nil }
    let length = text.utf8CodeUnitCount
    var offset = 0
    while offset + length <= count,
      let found = memchr(base + offset, Int32(text.utf8Start.pointee), count - length + 1 - offset)
    {
      offset = UnsafeRawPointer(found) - base
      if memcmp(found, text.utf8Start, length) == 0 { return offset }
      offset += 1
    }
    return nil
  }

  /// The same bytes without the carriage returns behind them: some shells end a line with several.
  var withoutCarriageReturns: UnsafeRawBufferPointer {
    var end = count
    while end > 0, self[end - 1] == UInt8(ascii: "\r") { end -= 1 }
    return UnsafeRawBufferPointer(rebasing: self[..<end])
  }
}

/// A part of a line in quotes, shortened and made printable for an error message.
func quoted(_ text: some Collection<UInt8>) -> String {
  let shown = text.prefix(24).map { 0x20..<0x7f ~= $0 ? Character(Unicode.Scalar($0)) : "?" }
  return "\"\(String(shown))\(text.count > 24 ? "…" : "")\""
}
