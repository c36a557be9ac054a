import Glibc
import KeyboardModes

extension EvemuParser {
  static var hasRegularLines: Bool { true }

  /// The fast path: parses lines that look exactly as evemu-record and keymodectl write them.
  ///
  ///     E: 0.000001 0001 002a 0001	# EV_KEY / KEY_LEFTSHIFT        1
  ///
  /// Behind the decimal point of such a line each field has a known offset, and the text before the
  /// point is mostly that of the line before. So eight characters at a time are compared. The first
  /// line that differs, or says more than a key event, is left to ``parse(_:isTerminated:)``.
  mutating func parseRegular(
    _ text: RegularText, into events: UnsafeMutableBufferPointer<KeyEvent>
  ) -> RegularText.Length {
    var length = RegularText.Length()
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

/// The beginning of a line up to the decimal point: `E: 12.`
private struct SecondText {
  /// The first 16 characters of the line, and a mask for those up to the point.
  private var text: (UInt64, UInt64) = (0, 0)
  private var mask: (UInt64, UInt64) = (0, 0)
  private var microseconds: Int64 = 0

  /// The number of characters up to the point; 0 before the first line.
  private(set) var count = 0

  /// Whether `line` has the same beginning.
  @inline(__always)
  func matches(_ line: UnsafeRawPointer) -> Bool {
    let first = (line.characters ^ text.0) & mask.0
    return first | (((line + 8).characters ^ text.1) & mask.1) == 0 && count > 0
  }

  /// Takes the beginning of `line`, and returns whether it is that of an event.
  mutating func take(_ line: UnsafeRawPointer) -> Bool {
    guard line.characters & 0xff_ffff == 0x20_3a45 else { return false }  // "E: "
    var seconds: Int64 = 0
    var digits = 0
    // Twelve digits are 31,700 years; in microseconds they do not overflow.
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
    // A shift by 64 or more gives 0.
    mask = (~(~0 << UInt64(8 * count)), ~(~0 << UInt64(max(0, 8 * count - 64))))
    return true
  }

  @inline(__always)
  func time(_ fraction: Int64) -> Time { Time(microseconds: microseconds &+ fraction) }
}

/// Fields as numbers, with the first character in the lowest byte.
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

/// The start of the line behind `next`, if `next` is a `SYN_REPORT` with the time of `line`. Every
/// second line of most recordings is one, and comparing it is faster than parsing it.
///
/// - Parameter count: the number of characters of `line` up to the end of its time, 11 to 22.
@inline(__always)
private func endOfReport(
  at next: UnsafeRawPointer, behind line: UnsafeRawPointer, untilTime count: Int
) -> UnsafeRawPointer? {
  let last = count &- 8
  let time =
    (next.characters ^ line.characters) | ((next + 8).characters ^ (line + 8).characters)
  // With less than 16 characters the second comparison includes what follows: with 12, ` 000`,
  // which is the same in both lines.
  guard count >= 12, time | ((next + last).characters ^ (line + last).characters) == 0 else {
    return nil
  }
  let fields = next + count
  guard fields.characters == 0x3030_2030_3030_3020, (fields + 8).characters == 0x0a30_3030_3020_3030
  else { return nil }
  return fields + 16
}

/// The end of the value of an event of another type; `nil` if the event is not well-formed.
private func endOfOther(_ fields: UnsafeRawPointer) -> UnsafeRawPointer? {
  guard fields.load(as: UInt8.self) == .space, fourHexadecimalDigits(at: fields + 1) != nil,
    fields.load(fromByteOffset: 5, as: UInt8.self) == .space,
    fourHexadecimalDigits(at: fields + 6) != nil,
    fields.load(fromByteOffset: 10, as: UInt8.self) == .space
  else { return nil }
  let isNegative = fields.load(fromByteOffset: 11, as: UInt8.self) == UInt8(ascii: "-")
  let start = fields + (isNegative ? 12 : 11)
  var end = start
  // Nine digits fit into 32 bits.
  while end < start + 9, end.load(as: UInt8.self) ^ 0x30 < 10 { end += 1 }
  return end > start ? end : nil
}

/// The start of the line behind this one; `nil` if this one is incomplete or too long.
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

/// Parses six decimal digits.
@inline(__always)
private func sixDigits(at text: UnsafeRawPointer) -> Int64? {
  // Bytes become digits, pairs of digits numbers below 100, and these the result.
  var digits = (text.characters & 0xffff_ffff_ffff) ^ 0x3030_3030_3030
  guard (digits | (digits &+ 0x0606_0606_0606)) & 0xf0f0_f0f0_f0f0 == 0 else { return nil }
  digits <<= 16
  digits = digits &* 10 &+ (digits >> 8)
  let high = (digits & 0xff_0000_00ff) &* 0x000f_4240_0000_0064
  let low = ((digits >> 16) & 0xff_0000_00ff) &* 0x0000_2710_0000_0001
  return Int64(truncatingIfNeeded: (high &+ low) >> 32)
}

/// Parses four hexadecimal digits with lowercase letters.
@inline(__always)
private func fourHexadecimalDigits(at start: UnsafeRawPointer) -> UInt16? {
  let text = start.loadUnaligned(as: UInt32.self).littleEndian
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
  /// The next eight characters, with the first in the lowest byte.
  @inline(__always)
  fileprivate var characters: UInt64 { loadUnaligned(as: UInt64.self).littleEndian }
}

extension KeyEvent.Action {
  /// Parses ` 0000`, ` 0001` or ` 0002`, and ignores what follows.
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
