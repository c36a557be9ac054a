import KeyboardModes

extension Int64 {
  /// Parses 1 to 18 decimal digits.
  init?(digits: UnsafeRawBufferPointer) {
    guard 1...18 ~= digits.count else { return nil }
    var number: Int64 = 0
    for byte in digits {
      guard let digit = byte.decimalDigit else { return nil }
      number = number &* 10 &+ Int64(digit)
    }
    self = number
  }

  /// Parses 1 to 18 decimal digits with an optional minus sign, as `printf("%d")` writes them.
  init?(ascii text: UnsafeRawBufferPointer) {
    let isNegative = text.first == UInt8(ascii: "-")
    let digits = isNegative ? UnsafeRawBufferPointer(rebasing: text.dropFirst()) : text
    guard let magnitude = Int64(digits: digits) else { return nil }
    self = isNegative ? -magnitude : magnitude
  }
}

extension FixedWidthInteger {
  /// Parses hexadecimal digits without `0x`, as many as the type has room for at most.
  init?(hexadecimal text: UnsafeRawBufferPointer) {
    guard 1...Self.bitWidth / 4 ~= text.count else { return nil }
    var number: Self = 0
    for byte in text {
      guard let digit = byte.hexadecimalDigit else { return nil }
      number = number << 4 | Self(digit)
    }
    self = number
  }
}

extension UInt8 {
  var decimalDigit: UInt8? {
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
