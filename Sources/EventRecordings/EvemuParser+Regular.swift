internal import Glibc
internal import KeyboardModes

extension EvemuParser {
  static var hasRegularLines: Bool { true }

  /// Reads the lines that look exactly as evemu-record and keymodectl write them.
  ///
  ///     E: 0.000001 0001 002a 0001	# EV_KEY / KEY_LEFTSHIFT        1
  ///
  /// From the point on the fields of such lines stand at known places, and what stands before it is
  /// mostly what stood there in the line before; so several characters at a time are compared. At the
  /// first line that differs, or that more than a key event comes of, the others have their turn:
  /// ``parse(_:isTerminated:)`` alone decides what is wrong.
  mutating func takeRegular(
    _ text: RegularText, into events: UnsafeMutableBufferPointer<KeyEvent>
  ) -> RunLength {
    var length = RunLength()
    var line = text.start
    var second = SecondText()
    while length.events < events.count, line < text.end {
      guard second.matches(line) || second.take(line),
        let microseconds = sixDigits(at: line + second.count)
      else { break }
      let fields = line + (second.count &+ 6)
      let type = fields.characters & 0xffff_ffff_ffff
      var end = fields + 15
      var event: KeyEvent?
      if type == FieldText.key {
        guard let number = fourHexadecimalDigits(at: fields + 6), let key = KeyCode(number),
          let action = KeyEvent.Action(field: (fields + 10).characters)
        else { break }
        event = KeyEvent(time: second.time(microseconds), key: key, action: action)
      } else if type != FieldText.synchronization || !FieldText.isReport(fields + 6) {
        guard type != FieldText.synchronization, let found = endOfOther(fields) else { break }
        end = found
      }
      guard let next = nextLine(behind: end, of: line, in: text) else { break }
      if let event {
        events.initializeElement(at: length.events, to: event)
        length.events &+= 1
      }
      length.parts &+= 1
      if let behind = endOfReport(at: next, behind: line, untilTime: second.count &+ 6),
        behind <= text.end
      {
        length.parts &+= 1
        line = behind
      } else {
        line = next
      }
    }
    length.bytes = line - text.start
    if length.parts > 0 { (isRecognized, isInModalias) = (true, false) }
    if length.events > 0 { valueWidth = 4 }
    return length
  }
}

/// What a line begins with, up to and with the point: `E: 12.`
private struct SecondText {
  /// The first 16 characters, and which of them belong to it.
  private var text: (UInt64, UInt64) = (0, 0)
  private var mask: (UInt64, UInt64) = (0, 0)
  private var microseconds: Int64 = 0

  /// How many characters belong to it; none where there was no line yet.
  private(set) var count = 0

  /// Whether `line` begins with it.
  @inline(__always)
  func matches(_ line: UnsafeRawPointer) -> Bool {
    let first = (line.characters ^ text.0) & mask.0
    return first | (((line + 8).characters ^ text.1) & mask.1) == 0 && count > 0
  }

  /// - Returns: whether `line` begins with a second, which now is this one.
  mutating func take(_ line: UnsafeRawPointer) -> Bool {
    guard line.characters & 0xff_ffff == 0x20_3a45 else { return false }  // "E: "
    var seconds: Int64 = 0
    var digits = 0
    // Twelve are 31,700 years, of which no microsecond overflows.
    while digits < 12 {
      let digit = line.load(fromByteOffset: 3 + digits, as: UInt8.self) ^ 0x30
      guard digit < 10 else { break }
      seconds = seconds * 10 + Int64(digit)
      digits += 1
    }
    guard digits > 0, line.load(fromByteOffset: 3 + digits, as: UInt8.self) == UInt8(ascii: ".")
    else { return false }
    count = 4 + digits
    microseconds = seconds * 1_000_000
    text = (line.characters, (line + 8).characters)
    // A shift by more than there is leaves nothing.
    mask = (~(~0 << UInt64(8 * count)), ~(~0 << UInt64(max(0, 8 * count - 64))))
    return true
  }

  @inline(__always)
  func time(_ fraction: Int64) -> Time { Time(microseconds: microseconds &+ fraction) }
}

/// Fields as they are in memory, the first character lowest.
private enum FieldText {
  /// ` 0001 `
  static let key: UInt64 = 0x20_3130_3030_20

  /// ` 0000 `
  static let synchronization: UInt64 = 0x20_3030_3030_20

  /// Whether these are the code and the value of `SYN_REPORT`: `0000 0000`.
  @inline(__always)
  static func isReport(_ fields: UnsafeRawPointer) -> Bool {
    fields.characters == 0x3030_3020_3030_3030
      && fields.load(fromByteOffset: 8, as: UInt8.self) == 0x30
  }
}

/// Where the line behind `next` begins, if `next` ends the report at the time that `line` has, as every
/// other line of most recordings does: known at a glance, for nothing of it has to be read.
///
/// - Parameter count: how many characters of `line` come before and belong to its time, 11 to 22.
@inline(__always)
private func endOfReport(
  at next: UnsafeRawPointer, behind line: UnsafeRawPointer, untilTime count: Int
) -> UnsafeRawPointer? {
  let last = count &- 8
  let time =
    (next.characters ^ line.characters) | ((next + 8).characters ^ (line + 8).characters)
  // Of fewer than 16 the second pair has what follows too, which with 12 is the same: ` 000`.
  guard count >= 12, time | ((next + last).characters ^ (line + last).characters) == 0 else {
    return nil
  }
  let fields = next + count
  guard fields.characters == 0x3030_2030_3030_3020, (fields + 8).characters == 0x0a30_3030_3020_3030
  else { return nil }
  return fields + 16
}

/// Where the value of an event of another type ends; all that matters is that it is well written.
private func endOfOther(_ fields: UnsafeRawPointer) -> UnsafeRawPointer? {
  guard fields.load(as: UInt8.self) == .space, fourHexadecimalDigits(at: fields + 1) != nil,
    fields.load(fromByteOffset: 5, as: UInt8.self) == .space,
    fourHexadecimalDigits(at: fields + 6) != nil,
    fields.load(fromByteOffset: 10, as: UInt8.self) == .space
  else { return nil }
  let isNegative = fields.load(fromByteOffset: 11, as: UInt8.self) == UInt8(ascii: "-")
  let start = fields + (isNegative ? 12 : 11)
  var end = start
  // Nine digits are within 32 bits.
  while end < start + 9, end.load(as: UInt8.self) ^ 0x30 < 10 { end += 1 }
  return end > start ? end : nil
}

/// Where the line behind that of these fields begins, if it is whole and no longer than others may be.
@inline(__always)
private func nextLine(
  behind end: UnsafeRawPointer, of line: UnsafeRawPointer, in text: RegularText
) -> UnsafeRawPointer? {
  guard end < text.end else { return nil }
  let byte = end.load(as: UInt8.self)
  if byte == UInt8(ascii: "\n") { return end + 1 }
  switch byte {
  case .space, .tab, UInt8(ascii: "#"):
    let longest = min(text.end - end, InputReader.longestLine - (end - line))
    return memchr(end, Int32(UInt8(ascii: "\n")), longest).map { UnsafeRawPointer($0) + 1 }
  default: return nil
  }
}

/// The number written in six decimal digits.
@inline(__always)
private func sixDigits(at place: UnsafeRawPointer) -> Int64? {
  // Each byte becomes a digit, then pairs of digits a number, then pairs of those.
  var digits = (place.characters & 0xffff_ffff_ffff) ^ 0x3030_3030_3030
  guard (digits | (digits &+ 0x0606_0606_0606)) & 0xf0f0_f0f0_f0f0 == 0 else { return nil }
  digits <<= 16
  digits = digits &* 10 &+ (digits >> 8)
  let high = (digits & 0xff_0000_00ff) &* 0x000f_4240_0000_0064
  let low = ((digits >> 16) & 0xff_0000_00ff) &* 0x0000_2710_0000_0001
  return Int64(truncatingIfNeeded: (high &+ low) >> 32)
}

/// The number written in four hexadecimal digits, the letters of them small.
@inline(__always)
private func fourHexadecimalDigits(at place: UnsafeRawPointer) -> UInt16? {
  let text = place.loadUnaligned(as: UInt32.self).littleEndian
  let letters = (text >> 6) & 0x0101_0101
  let low = text & 0x0f0f_0f0f
  let digits = low &+ letters &* 9
  let marks = text ^ low ^ (0x3030_3030 ^ letters &* 0x50)
  let range = (((digits &+ 0x0606_0606) >> 4) & 0x0101_0101) ^ letters
  guard marks | range | (digits & 0x1010_1010) == 0 else { return nil }
  let pairs = (digits << 4 | digits >> 8) & 0xff_00ff
  return UInt16(truncatingIfNeeded: pairs << 8 | pairs >> 16)
}

extension UnsafeRawPointer {
  /// The next eight characters, the first lowest.
  @inline(__always)
  fileprivate var characters: UInt64 { loadUnaligned(as: UInt64.self).littleEndian }
}

extension KeyEvent.Action {
  /// ` 0000`, ` 0001` or ` 0002`, whatever follows.
  @inline(__always)
  fileprivate init?(field: UInt64) {
    guard field & 0xffff_ffff == 0x3030_3020 else { return nil }
    switch UInt8(truncatingIfNeeded: field >> 32) {
    case UInt8(ascii: "0"): self = .release
    case UInt8(ascii: "1"): self = .press
    case UInt8(ascii: "2"): self = .autorepeat
    default: return nil
    }
  }
}
