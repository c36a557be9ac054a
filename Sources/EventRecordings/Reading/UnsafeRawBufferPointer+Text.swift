import Glibc

extension UnsafeRawBufferPointer {
  /// The byte order mark that some editors write before a text in UTF-8.
  static let encodingMark: [UInt8] = [0xef, 0xbb, 0xbf]

  /// The same bytes without a byte order mark.
  var withoutEncodingMark: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: dropFirst(starts(with: Self.encodingMark) ? 3 : 0))
  }

  /// Whether these bytes are exactly this text.
  func equals(_ text: StaticString) -> Bool {
    guard let base = baseAddress, count == text.utf8CodeUnitCount else { return false }
    return memcmp(base, text.utf8Start, count) == 0
  }

  /// Whether these bytes begin with this text.
  func begins(with text: StaticString) -> Bool {
    guard let base = baseAddress, count >= text.utf8CodeUnitCount else { return false }
    return memcmp(base, text.utf8Start, text.utf8CodeUnitCount) == 0
  }

  /// The same bytes without the spaces and tabs before them.
  var withoutIndentation: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: drop { $0 == .space || $0 == .tab })
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

  /// The same text with its no-break spaces replaced by spaces, for which mail archives write them;
  /// `nil` if it has none.
  func replacingNoBreakSpaces() -> [UInt8]? {
    guard firstOffset(of: "\u{a0}") != nil else { return nil }
    var text: [UInt8] = []
    var rest = self[...]
    while let byte = rest.first {
      let isNoBreakSpace = rest.starts(with: "\u{a0}".utf8)
      text.append(isNoBreakSpace ? .space : byte)
      rest = rest.dropFirst(isNoBreakSpace ? 2 : 1)
    }
    return text
  }
}

/// A part of a line in quotes, shortened and made printable for an error message.
func quoted(_ text: some Collection<UInt8>) -> String {
  let shown = text.prefix(24).map { 0x20..<0x7f ~= $0 ? Character(Unicode.Scalar($0)) : "?" }
  return "\"\(String(shown))\(text.count > 24 ? "…" : "")\""
}
