import Glibc
import KeyboardModes

extension UInt8 {
  static let space = UInt8(ascii: " ")
  static let tab = UInt8(ascii: "\t")
  static let comma = UInt8(ascii: ",")
  static let closingBracket = UInt8(ascii: "]")

  var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }

  /// Whether a name in YAML may have this character.
  var isOfYAMLName: Bool {
    isDigit || (self | 0x20) &- UInt8(ascii: "a") < 26 || "_-".utf8.contains(self)
  }

  /// The value of a hexadecimal digit; at least 16 for any other character.
  var hexadecimalDigit: UInt8 {
    if isDigit { return self &- UInt8(ascii: "0") }
    // This bit makes an ASCII letter lower-case.
    let letter = (self | 0x20) &- UInt8(ascii: "a")
    return letter < 6 ? letter &+ 10 : .max
  }
}

/// Splits a line into fields. Spaces, tabs, commas and closing brackets separate fields. The caller
/// has to skip the commas and closing brackets.
///
/// For speed, one pass parses a number and finds its end. The code that runs for each event is
/// inlined, so that both pointers stay in registers.
struct Fields {
  /// The part of the line that has not been taken is between `front` and `end`.
  private var front: UnsafeRawPointer
  private let end: UnsafeRawPointer

  init(_ line: UnsafeRawBufferPointer, from position: Int = 0) {
    guard let base = line.baseAddress else { preconditionFailure("a line is part of a buffer") }
    front = base + position
    end = base + line.count
  }

  /// Whether any character follows, even a space.
  var hasMore: Bool { front < end }

  /// Whether a digit follows.
  var hasDigit: Bool { hasMore && character.isDigit }

  /// The part of the line that has not been taken.
  private var rest: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: front, count: end - front)
  }

  /// The next character; there must be one.
  private var character: UInt8 { front.load(as: UInt8.self) }

  /// Whether no further character belongs to the present field.
  private var isAtEndOfField: Bool {
    guard hasMore else { return true }
    let next = character
    return next == .space || next == .tab || next == .comma || next == .closingBracket
  }

  @inline(__always)
  mutating func skipSpace() {
    skipSpaceOrTab()
    // Tools pad their fields with many spaces.
    while skipSpaceOrTab() {
      if let nextEight { front += (nextEight ^ 0x2020_2020_2020_2020).trailingZeroBitCount / 8 }
    }
  }

  @inline(__always) @discardableResult
  private mutating func skipSpaceOrTab() -> Bool {
    guard hasMore, character == .space || character == .tab else { return false }
    front += 1
    return true
  }

  /// The next eight characters, the first one in the lowest bits; `nil` if there are fewer.
  private var nextEight: UInt64? {
    end - front < 8 ? nil : front.loadUnaligned(as: UInt64.self).littleEndian
  }

  /// Skips this character, if it is next, and returns whether it is.
  @inline(__always)
  mutating func skip(_ character: UInt8) -> Bool {
    guard hasMore, self.character == character else { return false }
    front += 1
    return true
  }

  /// Skips this text, if it is next, and returns whether it is.
  @inline(__always)
  mutating func skip(_ text: StaticString) -> Bool {
    guard rest.begins(with: text) else { return false }
    front += text.utf8CodeUnitCount
    return true
  }

  /// Skips the next field, if it has these bytes, and returns whether it has.
  @inline(__always)
  mutating func skip(field bytes: [UInt8]) -> Bool {
    skipSpace()
    let start = front
    guard bytes.count <= end - front, memcmp(front, bytes, bytes.count) == 0 else { return false }
    front += bytes.count
    if isAtEndOfField { return true }
    front = start
    return false
  }

  /// Skips everything up to this text, and the text too. Returns whether the line contains the
  /// text; if not, nothing is skipped.
  @inline(__always)
  mutating func skip(past text: StaticString) -> Bool {
    guard let offset = rest.firstOffset(of: text) else { return false }
    front += offset + text.utf8CodeUnitCount
    return true
  }

  /// The next field; `nil` if there is none.
  @inline(__always)
  mutating func next() -> UnsafeRawBufferPointer? {
    skipSpace()
    let start = front
    while !isAtEndOfField {
      front += 1
      // The lowest high bit marks the first bracket or character that is at most a comma, 0x2c.
      while let nextEight {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let bracket = nextEight ^ ones &* UInt64(UInt8.closingBracket)
        let ends = (nextEight &- ones &* 0x2d) & ~nextEight | (bracket &- ones) & ~bracket
        let high = ends & (ones &* 0x80)
        front += high.trailingZeroBitCount / 8
        if high != 0 { break }
      }
    }
    return start < front ? UnsafeRawBufferPointer(start: start, count: front - start) : nil
  }

  /// An error of the next field, which messages call `name`: the field is missing or has this
  /// problem.
  func error(_ name: String, _ problem: String) -> LineError {
    var copy = self
    guard let field = copy.next() else { return LineError("an event without a \(name)") }
    return LineError("event \(name) \(quoted(field)) \(problem)")
  }

  // MARK: Numbers

  /// The decimal number in the next field, with a minus sign or without, as `printf("%d")` writes
  /// it. Returns `nil` and takes nothing if the field is no number or has more than 18 digits.
  @inline(__always)
  mutating func decimal() -> Int64? {
    skipSpace()
    let start = front
    let isNegative = skip(UInt8(ascii: "-"))
    if let magnitude = digits(), isAtEndOfField { return isNegative ? -magnitude : magnitude }
    front = start
    return nil
  }

  /// The value of an event in the next field, before a space, a tab or the end of the line.
  @inline(__always)
  mutating func value() throws(LineError) -> Int32 {
    let start = self
    if let number = decimal(), let value = Int32(exactly: number),
      !hasMore || character == .space || character == .tab
    {
      return value
    }
    throw start.error("value", "is not a decimal number")
  }

  /// The hexadecimal number in the next field, without `0x`. Returns `nil` and takes nothing if the
  /// field is no number or has fewer or more digits. `Number` must have room for all `digits`.
  @inline(__always)
  mutating func hexadecimal<Number: FixedWidthInteger>(digits: ClosedRange<Int>) -> Number? {
    skipSpace()
    let start = front
    var number: Number = 0
    while hasMore {
      let digit = character.hexadecimalDigit
      guard digit < 16 else { break }
      number = number &<< 4 | Number(truncatingIfNeeded: digit)
      front += 1
    }
    if digits ~= front - start, isAtEndOfField { return number }
    front = start
    return nil
  }

  /// The time in the next field: seconds, a point, and six digits of microseconds.
  @inline(__always)
  mutating func time() throws(LineError) -> Time {
    skipSpace()
    let start = self
    guard let seconds = digits(), skip(UInt8(ascii: ".")) else {
      throw start.error("time", "is not SECONDS.MICROSECONDS")
    }
    let point = front
    guard let fraction = digits(), isAtEndOfField else {
      throw start.error("time", "is not SECONDS.MICROSECONDS")
    }
    // evemu itself reads the `.5` of `1.5` as five microseconds; a person reads half a second.
    guard front - point == 6 else {
      throw start.error("time", "does not have six digits after the point")
    }
    return try Time(seconds: seconds, microseconds: fraction)
  }

  /// Takes all digits that follow, as a decimal number; `nil` unless there are 1 to 18.
  @inline(__always)
  mutating func digits() -> Int64? {
    let start = front
    var number: Int64 = 0
    while hasDigit {
      number = number &* 10 &+ Int64(character &- UInt8(ascii: "0"))
      front += 1
    }
    return 1...18 ~= front - start ? number : nil
  }
}

extension Time {
  /// The seconds of an event's time must be less than this number, almost 35,000 years.
  static var secondsLimit: Int64 { 1 << 40 }

  /// Throws unless `seconds` are in 0..<``secondsLimit`` and `microseconds` in 0..<1,000,000.
  init(seconds: Int64, microseconds: Int64) throws(LineError) {
    guard seconds >= 0, 0..<1_000_000 ~= microseconds else {
      throw LineError("event time \(seconds), \(microseconds) is not seconds and microseconds")
    }
    guard seconds < Self.secondsLimit else {
      throw LineError("event time \(seconds) s is too large")
    }
    self.init(microseconds: seconds * 1_000_000 + microseconds)
  }
}

extension UnsafeRawBufferPointer {
  /// Whether these bytes are exactly this text.
  @inline(__always)
  func equals(_ text: StaticString) -> Bool {
    count == text.utf8CodeUnitCount && begins(with: text)
  }

  /// Whether these bytes are exactly `bytes`.
  @inline(__always)
  func equals(_ bytes: [UInt8]) -> Bool {
    guard let base = baseAddress, count == bytes.count else { return false }
    return memcmp(base, bytes, count) == 0
  }

  /// Whether these bytes begin with this text.
  @inline(__always)
  func begins(with text: StaticString) -> Bool {
    guard let base = baseAddress, count >= text.utf8CodeUnitCount else { return false }
    return memcmp(base, text.utf8Start, text.utf8CodeUnitCount) == 0
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

  /// These bytes without spaces and tabs at their beginning.
  @inline(__always)
  var withoutIndentation: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: drop { $0 == .space || $0 == .tab })
  }

  /// These bytes without carriage returns at their end: some shells end a line with several.
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
