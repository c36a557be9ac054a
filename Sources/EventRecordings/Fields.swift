extension UInt8 {
  static let space = UInt8(ascii: " ")
  static let tab = UInt8(ascii: "\t")
}

extension UnsafeRawBufferPointer {
  /// The same text with spaces for no-break spaces, which mail archives put in the place of spaces;
  /// `nil` where there are none.
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

/// The parts of a line between spaces and tabs.
struct Fields {
  private let line: UnsafeRawBufferPointer
  private var position: Int

  init(_ line: UnsafeRawBufferPointer, from position: Int) {
    self.line = line
    self.position = position
  }

  /// The next part, or `nil` at the end of the line.
  ///
  /// - Parameter mark: a character that ends the part as a space does.
  mutating func next(orEndAt mark: UInt8 = .space) -> UnsafeRawBufferPointer? {
    skipSpace()
    let start = position
    while position < line.count, line[position] != .space, line[position] != .tab,
      line[position] != mark
    { position += 1 }
    return start < position ? UnsafeRawBufferPointer(rebasing: line[start..<position]) : nil
  }

  /// The part between these characters, without spaces at its ends; `nil` where they are not next.
  mutating func next(between first: UInt8, and last: UInt8) -> UnsafeRawBufferPointer? {
    skipSpace()
    let rest = line[position...]
    guard rest.first == first, let end = rest.firstIndex(of: last) else { return nil }
    let inside = rest[(position + 1)..<end].drop { $0 == .space || $0 == .tab }
    position = end + 1
    return UnsafeRawBufferPointer(rebasing: inside)
  }

  /// Passes over this character, if it is next.
  mutating func skip(_ mark: UInt8) {
    if position < line.count, line[position] == mark { position += 1 }
  }

  /// Passes over everything up to and with these characters, or only up to them.
  ///
  /// - Returns: whether they were there; otherwise nothing is passed over.
  mutating func skip(to text: StaticString, keepingIt: Bool = false) -> Bool {
    let rest = UnsafeRawBufferPointer(rebasing: line[position...])
    guard let offset = rest.firstOffset(of: text) else { return false }
    position += offset + (keepingIt ? 0 : text.utf8CodeUnitCount)
    return true
  }

  /// Whether anything follows, be it a comment or only a space.
  var hasMore: Bool { position < line.count }

  private mutating func skipSpace() {
    while position < line.count, line[position] == .space || line[position] == .tab {
      position += 1
    }
  }
}

extension Int64 {
  /// The number written in up to 18 decimal digits, without a sign.
  init?(digits: UnsafeRawBufferPointer) {
    guard 1...18 ~= digits.count else { return nil }
    var number: Int64 = 0
    for byte in digits {
      guard let digit = byte.decimalDigit else { return nil }
      number = number * 10 + Int64(digit)
    }
    self = number
  }
}

extension Int32 {
  /// The number written in decimal, perhaps with a minus sign, as C's `%d` reads it.
  init?(ascii text: UnsafeRawBufferPointer) {
    let isNegative = text.first == UInt8(ascii: "-")
    let digits = isNegative ? UnsafeRawBufferPointer(rebasing: text.dropFirst()) : text
    guard let magnitude = Int64(digits: digits) else { return nil }
    self.init(exactly: isNegative ? -magnitude : magnitude)
  }
}

extension UInt16 {
  /// The number written in one to four hexadecimal digits, without `0x`.
  init?(hexadecimal text: UnsafeRawBufferPointer) {
    guard 1...4 ~= text.count else { return nil }
    var number: UInt16 = 0
    for byte in text {
      guard let digit = byte.hexadecimalDigit else { return nil }
      number = number << 4 | UInt16(digit)
    }
    self = number
  }
}

extension UInt8 {
  fileprivate var decimalDigit: UInt8? {
    UInt8(ascii: "0")...UInt8(ascii: "9") ~= self ? self - UInt8(ascii: "0") : nil
  }

  fileprivate var hexadecimalDigit: UInt8? {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    default: decimalDigit
    }
  }
}
