import KeyboardModes

extension Time {
  /// Parses seconds, a point, and six digits of microseconds.
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

  /// The time with these seconds and microseconds.
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
