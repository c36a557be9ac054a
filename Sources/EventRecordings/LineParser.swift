internal import KeyboardModes

/// Reads the lines of a format of text.
protocol LineParser {
  /// Reads one line.
  ///
  /// - Parameter isTerminated: whether a line end followed it. Of the last line, perhaps only a part
  ///   was written.
  /// - Returns: what the line says, if it says anything of key events.
  mutating func parse(
    _ line: UnsafeRawBufferPointer, isTerminated: Bool
  ) throws(LineFault) -> Entry?

  /// Whether only such a recording has this line: an event, or what the tool writes before the first.
  static func claims(_ line: UnsafeRawBufferPointer) -> Bool

  /// A parser that has read nothing yet.
  init()

  /// Whether there is a quicker way to read regular lines.
  static var hasRegularLines: Bool { get }

  /// Reads lines for as long as each is exactly as the recording tool writes it and means a key event,
  /// or nothing at all: what comes of them is what would come of ``parse(_:isTerminated:)``, only
  /// sooner. Asked only between the events of one device that is in no special state.
  mutating func takeRegular(
    _ text: RegularText, into events: UnsafeMutableBufferPointer<KeyEvent>
  ) -> RunLength

  /// Whether anything was found that only such a recording has.
  var isRecognized: Bool { get }

  /// Whether the last line is only the first part of what it says.
  var isUnfinished: Bool { get }

  /// Something to tell the user of that is no error; once.
  mutating func takeWarning() -> String?
}

/// Whole lines, or the beginnings of them, behind which so many bytes more may be looked at that no
/// field of a regular line needs to be checked for where it ends.
struct RegularText {
  /// How many bytes more.
  static let margin = 64

  let start: UnsafeRawPointer
  let end: UnsafeRawPointer
}

extension LineParser {
  static func claims(_ line: UnsafeRawBufferPointer) -> Bool { isRecognized(line) }

  /// Whether a line alone lets the parser know its format.
  static func isRecognized(_ line: UnsafeRawBufferPointer) -> Bool {
    var parser = Self()
    _ = try? parser.parse(line, isTerminated: true)
    return parser.isRecognized
  }

  static var hasRegularLines: Bool { false }
  mutating func takeRegular(
    _ text: RegularText, into events: UnsafeMutableBufferPointer<KeyEvent>
  ) -> RunLength {
    RunLength()
  }

  var isUnfinished: Bool { false }
  mutating func takeWarning() -> String? { nil }
}

extension Time {
  /// The time written as seconds, a point, and six digits of microseconds.
  init(field: UnsafeRawBufferPointer) throws(LineFault) {
    guard let point = field.firstIndex(of: UInt8(ascii: ".")),
      let seconds = Int64(digits: UnsafeRawBufferPointer(rebasing: field[..<point])),
      let fraction = Int64(digits: UnsafeRawBufferPointer(rebasing: field[(point + 1)...]))
    else { throw LineFault("event time \(quoted(field)) is not SECONDS.MICROSECONDS") }
    // evemu itself reads 1.5 as five microseconds, a person as half a second.
    guard field.count - point - 1 == 6 else {
      throw LineFault("event time \(quoted(field)) does not have six digits after the point")
    }
    try self.init(seconds: seconds, microseconds: fraction)
  }

  /// The time of so many seconds, and microseconds below a million.
  init(seconds: Int64, microseconds: Int64) throws(LineFault) {
    guard seconds >= 0, 0..<1_000_000 ~= microseconds else {
      throw LineFault("event time \(seconds), \(microseconds) is not seconds and microseconds")
    }
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    let (time, carry) = whole.addingReportingOverflow(microseconds)
    guard !overflow, !carry else { throw LineFault("event time \(seconds) s is too large") }
    self.init(microseconds: time)
  }
}

/// Part of a line, to show in an error.
func quoted(_ text: some Collection<UInt8>) -> String {
  let shown = text.prefix(24).map { 0x20..<0x7f ~= $0 ? Character(Unicode.Scalar($0)) : "?" }
  return "\"\(String(shown))\(text.count > 24 ? "…" : "")\""
}
