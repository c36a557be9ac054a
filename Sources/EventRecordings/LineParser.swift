internal import KeyboardModes

/// Reads the lines of a format of text.
protocol LineParser {
  /// Reads one line.
  ///
  /// - Parameter isTerminated: whether a line end followed it. Of the last line, perhaps only a part
  ///   was written.
  /// - Returns: the event that the line holds, if any.
  mutating func parse(
    _ line: UnsafeRawBufferPointer, isTerminated: Bool
  ) throws(LineFault) -> InputEvent?

  /// Whether anything was found that only such a recording has.
  var isRecognized: Bool { get }

  /// Something to tell the user of that is no error; once.
  mutating func takeWarning() -> String?
}

extension LineParser {
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
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    let (microseconds, carry) = whole.addingReportingOverflow(fraction)
    guard !overflow, !carry else { throw LineFault("event time \(quoted(field)) is too large") }
    self.init(microseconds: microseconds)
  }
}

/// Part of a line, to show in an error.
func quoted(_ text: some Collection<UInt8>) -> String {
  let shown = text.prefix(24).map { 0x20..<0x7f ~= $0 ? Character(Unicode.Scalar($0)) : "?" }
  return "\"\(String(shown))\(text.count > 24 ? "…" : "")\""
}
