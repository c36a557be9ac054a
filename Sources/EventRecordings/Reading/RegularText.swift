import Glibc
import KeyboardModes

/// Text or records in memory for a fast path to read. The last line or record may be incomplete.
struct RegularText {
  /// How many more bytes behind `end` may be read, so that a fast path has to check only once a
  /// line that it is within the text.
  static let margin = 192

  let start: UnsafeRawPointer
  let end: UnsafeRawPointer

  /// The text from `start` to `end`, behind which ``margin`` bytes are in memory too.
  init(start: UnsafeRawPointer, end: UnsafeRawPointer) { (self.start, self.end) = (start, end) }

  /// The bytes of `text` but the last ones, which are the margin; `nil` if there are no more.
  init?(withMargin text: UnsafeRawBufferPointer) {
    guard let start = text.baseAddress, text.count > Self.margin else { return nil }
    self.init(start: start, end: start + (text.count - Self.margin))
  }

  /// How much of it a fast path has read.
  struct Length {
    var bytes = 0
    /// The number of lines or records.
    var parts = 0
    /// The number of key events.
    var events = 0
    /// The number of the device that has these events.
    var device = 0
  }

  /// The key events that a fast path finds, and how much of the text it reads.
  ///
  /// - Parameter read: the fast path: parses into the buffer.
  func keys(
    _ read: (RegularText, UnsafeMutableBufferPointer<KeyEvent>) -> Length
  ) -> ([KeyEvent], Length) {
    var length = Length()
    let events = [KeyEvent](unsafeUninitializedCapacity: RecordedBatch.capacity) { events, count in
      length = read(self, events)
      count = length.events
    }
    return (events, length)
  }
}

/// What fast paths read: eight characters at a time, without a branch for each.
extension UnsafeRawPointer {
  /// The next eight characters, with the first in the lowest byte.
  @inline(__always)
  var characters: UInt64 { loadUnaligned(as: UInt64.self).littleEndian }

  /// The next character.
  @inline(__always)
  var character: UInt8 { load(as: UInt8.self) }

  /// Whether this text is next. For a constant text, the compiler makes a few comparisons of it.
  @inline(__always)
  func begins(with text: StaticString) -> Bool {
    memcmp(self, text.utf8Start, text.utf8CodeUnitCount) == 0
  }

  /// Whether one of these digits is next.
  @inline(__always)
  func isDigit(upTo last: UInt8) -> Bool { character &- 0x30 <= last }
}

// MARK: - Searching

extension UnsafeRawPointer {
  /// The next line end before `end`.
  @inline(__always)
  func lineEnd(before end: UnsafeRawPointer) -> UnsafeRawPointer? {
    first(before: end) { $0.bytes(equalTo: 0x0a) }
  }

  /// The next line end before `end`, if only printable ASCII characters are before it.
  @inline(__always)
  func lineEndBehindPrintable(before end: UnsafeRawPointer) -> UnsafeRawPointer? {
    let found = first(before: end) { $0.bytes(below: 0x20) | $0.bytes(equalTo: 0x7f) | $0 }
    return found?.character == UInt8(ascii: "\n") ? found : nil
  }

  /// The next line end before `end`, if only spaces are before it.
  @inline(__always)
  func lineEndBehindSpaces(before end: UnsafeRawPointer) -> UnsafeRawPointer? {
    let found = first(before: end) {
      ($0 ^ UInt64.everyByte(0x20)).bytesOtherThanZero()
    }
    return found?.character == UInt8(ascii: "\n") ? found : nil
  }

  /// The closing parenthesis before `end` that follows a name, which has no spaces.
  @inline(__always)
  func endOfName(before end: UnsafeRawPointer) -> UnsafeRawPointer? {
    let found = first(before: end) { $0.bytes(below: 0x21) | $0.bytes(equalTo: 0x29) }
    return found?.character == UInt8(ascii: ")") ? found : nil
  }

  /// The first character before `end` that `search` marks by the highest bit of its byte. Behind the
  /// first one, it may mark others too.
  @inline(__always)
  private func first(
    before end: UnsafeRawPointer, where search: (UInt64) -> UInt64
  ) -> UnsafeRawPointer? {
    var place = self
    while place < end {
      let marks = search(place.characters) & UInt64.everyByte(0x80)
      if marks != 0 {
        place += marks.trailingZeroBitCount / 8
        return place < end ? place : nil
      }
      place += 8
    }
    return nil
  }
}

/// The highest bit of each byte for which something holds, in eight bytes; see "Determine if a word
/// has a byte less than n" in Bit Twiddling Hacks. Behind the first such byte, others may be marked
/// too; other bits have no meaning.
extension UInt64 {
  @inline(__always)
  fileprivate static func everyByte(_ byte: UInt64) -> UInt64 { 0x0101_0101_0101_0101 &* byte }

  @inline(__always)
  fileprivate func bytes(below limit: UInt64) -> UInt64 { (self &- Self.everyByte(limit)) & ~self }

  @inline(__always)
  fileprivate func bytes(equalTo byte: UInt64) -> UInt64 {
    (self ^ Self.everyByte(byte)).bytes(below: 1)
  }

  @inline(__always)
  fileprivate func bytesOtherThanZero() -> UInt64 {
    ((self & Self.everyByte(0x7f)) &+ Self.everyByte(0x7f)) | self
  }
}

// MARK: - Numbers

extension UnsafeRawPointer {
  /// Parses the decimal digits that are next, but not more than eight: the number, and how many
  /// they are.
  @inline(__always)
  func decimal() -> (number: Int64, count: Int)? {
    let digits = characters ^ 0x3030_3030_3030_3030
    // The highest bit of the first byte above nine.
    let others = (digits | (digits &+ 0x7676_7676_7676_7676)) & 0x8080_8080_8080_8080
    let count = others.trailingZeroBitCount / 8
    guard count > 0 else { return nil }
    return (Self.number(of: digits &<< UInt64(truncatingIfNeeded: 64 &- 8 &* count)), count)
  }

  /// Parses six decimal digits.
  @inline(__always)
  func sixDigits() -> Int64? {
    let digits = (characters & 0xffff_ffff_ffff) ^ 0x3030_3030_3030
    return Self.areDigits(digits) ? Self.number(of: digits << 16) : nil
  }

  /// Parses a decimal number with spaces before it.
  ///
  /// - Parameter width: the number of characters, 1 to 8.
  @inline(__always)
  func rightAligned(_ width: UInt64) -> Int64? {
    let field = UInt64.max &>> (64 &- 8 &* width)
    let text = characters & field
    // Spaces lack a bit that all digits have. They come first, and are not all.
    let spaces = ((~text >> 4) & 0x0101_0101_0101_0101 & field) &* 0xff
    guard spaces & (spaces &+ 1) == 0, spaces != field else { return nil }
    let zeros = (0x3030_3030_3030_3030 & field) ^ (spaces & 0x1010_1010_1010_1010)
    let digits = text ^ zeros
    guard Self.areDigits(digits), digits & spaces == 0 else { return nil }
    return Self.number(of: digits &<< (64 &- 8 &* width))
  }

  @inline(__always)
  private static func areDigits(_ bytes: UInt64) -> Bool {
    (bytes | (bytes &+ 0x0606_0606_0606_0606)) & 0xf0f0_f0f0_f0f0_f0f0 == 0
  }

  /// The number of eight digits, with the first in the lowest byte.
  @inline(__always)
  private static func number(of digits: UInt64) -> Int64 {
    // Digits become pairs of digits, numbers below 100, and these the result.
    let pairs = digits &* 10 &+ (digits >> 8)
    let high = (pairs & 0xff_0000_00ff) &* 0x000f_4240_0000_0064
    let low = ((pairs >> 16) & 0xff_0000_00ff) &* 0x0000_2710_0000_0001
    return Int64(truncatingIfNeeded: (high &+ low) >> 32)
  }

  /// Whether the next eight characters are hexadecimal digits with lowercase letters.
  @inline(__always)
  func areEightHexadecimalDigits() -> Bool {
    fourHexadecimalDigits() != nil && (self + 4).fourHexadecimalDigits() != nil
  }

  /// Parses four hexadecimal digits with lowercase letters.
  @inline(__always)
  func fourHexadecimalDigits() -> UInt16? {
    let text = loadUnaligned(as: UInt32.self).littleEndian
    let letters = (text >> 6) & 0x0101_0101
    let low = text & 0x0f0f_0f0f
    let digits = low &+ letters &* 9
    let marks = text ^ low ^ (0x3030_3030 ^ letters &* 0x50)
    let range = (((digits &+ 0x0606_0606) >> 4) & 0x0101_0101) ^ letters
    guard marks | range | (digits & 0x1010_1010) == 0 else { return nil }
    let pairs = (digits << 4 | digits >> 8) & 0xff_00ff
    return UInt16(truncatingIfNeeded: pairs << 8 | pairs >> 16)
  }
}

extension KeyEvent.Action {
  /// The action of the value `0`, `1` or `2`.
  @inline(__always)
  init?(digit: UInt8) {
    switch digit {
    case UInt8(ascii: "0"): self = .release
    case UInt8(ascii: "1"): self = .press
    case UInt8(ascii: "2"): self = .autorepeat
    default: return nil
    }
  }
}
