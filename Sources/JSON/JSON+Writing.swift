extension JSON {
  /// The value as compact JSON: no spaces, members in their order.
  public var text: String {
    var bytes: [UInt8] = []
    write(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends the value as compact JSON.
  public func write(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes.append(contentsOf: "null".utf8)
    case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
    case .integer(let value): JSON.write(value, to: &bytes)
    case .real(let value):
      // JSON has no infinity and no NaN.
      bytes.append(contentsOf: (value.isFinite ? value.description : "null").utf8)
    case .string(let value): JSON.write(value, to: &bytes)
    case .array(let values):
      bytes.append(UInt8(ascii: "["))
      for (place, value) in values.enumerated() {
        if place > 0 { bytes.append(UInt8(ascii: ",")) }
        value.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      for (place, member) in members.enumerated() {
        if place > 0 { bytes.append(UInt8(ascii: ",")) }
        JSON.write(member.name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        member.value.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  private static func write(_ value: Int64, to bytes: inout [UInt8]) {
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    let start = bytes.count
    var rest = value.magnitude
    repeat {
      bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    // Reversing a slice of the array itself would copy it.
    bytes.withUnsafeMutableBufferPointer { $0[start...].reverse() }
  }

  private static func write(_ value: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    var value = value
    // Nearly every string needs no escapes.
    let isWritten = value.withUTF8 { text in
      guard text.allSatisfy(standsForItself) else { return false }
      bytes.append(contentsOf: text)
      return true
    }
    if !isWritten {
      for scalar in value.unicodeScalars { write(scalar, to: &bytes) }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Whether a byte of UTF-8 is a printable ASCII character that JSON does not escape.
  @inlinable public static func standsForItself(_ byte: UInt8) -> Bool {
    0x20..<0x7f ~= byte && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  /// Writes a scalar, escaped if it is a quote, a backslash, or a control, format or separator
  /// character. JSON does not require all of these escapes, but its text is also shown on
  /// terminals, which interpret such characters.
  private static func write(_ scalar: Unicode.Scalar, to bytes: inout [UInt8]) {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator:
      for unit in String(scalar).utf16 { escape(unit, to: &bytes) }
    default:
      if scalar == "\"" || scalar == "\\" { bytes.append(UInt8(ascii: "\\")) }
      bytes.append(contentsOf: String(scalar).utf8)
    }
  }

  private static func escape(_ unit: UInt16, to bytes: inout [UInt8]) {
    let hex = Array("0123456789abcdef".utf8)
    bytes.append(contentsOf: "\\u".utf8)
    for shift in [12, 8, 4, 0] { bytes.append(hex[Int(unit >> shift) & 15]) }
  }
}
