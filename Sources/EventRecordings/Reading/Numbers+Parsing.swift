extension Int64 {
  /// Parses 1 to 18 decimal digits.
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
  /// Parses decimal digits with an optional minus sign, as `printf("%d")` writes them.
  init?(ascii text: UnsafeRawBufferPointer) {
    let isNegative = text.first == UInt8(ascii: "-")
    let digits = isNegative ? UnsafeRawBufferPointer(rebasing: text.dropFirst()) : text
    guard let magnitude = Int64(digits: digits) else { return nil }
    self.init(exactly: isNegative ? -magnitude : magnitude)
  }
}

extension UInt16 {
  /// Parses 1 to 4 hexadecimal digits, without `0x`.
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
