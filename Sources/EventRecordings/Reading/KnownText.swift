import KeyboardModes

/// Up to 24 characters, with which text is compared eight at a time.
struct KnownText {
  static let longest = 24

  private var words: (UInt64, UInt64, UInt64) = (0, 0, 0)
  private var mask: (UInt64, UInt64, UInt64) = (0, 0, 0)

  /// The number of characters; 0 if no text is known yet.
  private(set) var count = 0

  init() {}

  /// The `count` characters at `text`, 24 at most.
  init(_ text: UnsafeRawPointer, count: Int) {
    self.count = count
    // A shift by 64 or more gives 0.
    func word(_ index: Int) -> UInt64 { ~(~0 << UInt64(max(0, 8 * count - 64 * index))) }
    mask = (word(0), word(1), word(2))
    words = (
      text.characters & mask.0, (text + 8).characters & mask.1, (text + 16).characters & mask.2
    )
  }

  /// Whether `text` begins with a known text.
  @inline(__always)
  func begins(_ text: UnsafeRawPointer) -> Bool {
    let first = (text.characters & mask.0) ^ words.0
    let second = ((text + 8).characters & mask.1) ^ words.1
    return first | second | (((text + 16).characters & mask.2) ^ words.2) == 0 && count > 0
  }
}

/// The beginning of a line up to the character behind the seconds of its time, such as `E: 12.` It
/// is mostly that of the line before.
struct SecondText {
  /// How the recording tool begins a line, and what it writes behind the seconds.
  struct Layout {
    let mark: StaticString
    let separator: UInt8
    /// Whether spaces may be before the seconds.
    var isPadded = false
  }

  private let layout: Layout
  private var text = KnownText()
  private var microseconds: Int64 = 0

  init(_ layout: Layout) { self.layout = layout }

  /// The number of its characters.
  var count: Int { text.count }

  /// The time of these seconds and of a fraction, in microseconds.
  @inline(__always)
  func time(_ fraction: Int64) -> Time { Time(microseconds: microseconds &+ fraction) }

  /// Whether `line` begins with a time in seconds, which is then known.
  @inline(__always)
  mutating func matches(_ line: UnsafeRawPointer) -> Bool { text.begins(line) || take(line) }

  @inline(never)
  private mutating func take(_ line: UnsafeRawPointer) -> Bool {
    guard line.begins(with: layout.mark) else { return false }
    var end = layout.mark.utf8CodeUnitCount
    while layout.isPadded, end < KnownText.longest, (line + end).character == .space { end += 1 }
    var seconds: Int64 = 0
    // Twelve digits are 31,700 years; in microseconds they do not overflow.
    let last = min(end + 12, KnownText.longest)
    let start = end
    while end < last, let digit = (line + end).character.decimalDigit {
      seconds = seconds * 10 + Int64(digit)
      end += 1
    }
    guard end > start, end < KnownText.longest, (line + end).character == layout.separator else {
      return false
    }
    text = KnownText(line, count: end + 1)
    microseconds = seconds * 1_000_000
    return true
  }
}
