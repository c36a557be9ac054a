import Terminal

/// Writes compact JSON: no spaces, members in the order of the calls.
///
///     bytes.appendJSON { json in
///       json.object { json in
///         json.member("sequence", change.sequence)
///         json.member("to", change.to)
///       }
///     }
public struct JSONWriter: ~Copyable {
  /// What was written.
  fileprivate var bytes: [UInt8] = []
  /// Whether the next value follows another one of the same array or object.
  private var needsComma: Bool

  fileprivate init(needsComma: Bool) { self.needsComma = needsComma }

  /// Writes an object, whose members `body` writes.
  public mutating func object(_ body: (inout JSONWriter) -> Void) {
    open("{")
    body(&self)
    close("}")
  }

  /// Writes a member of the present object. Its name must need no escapes.
  public mutating func member(_ name: StaticString, _ value: some JSONWritable) {
    self.name(name)
    value.write(to: &self)
  }

  /// Writes a member of the present object, whatever its name.
  mutating func member(escaping name: String, _ value: JSON) {
    string(name)
    bytes.append(colon)
    needsComma = false
    value.write(to: &self)
  }

  /// Writes the name of a member, which must need no escapes. The caller writes the value next.
  public mutating func name(_ name: StaticString) {
    beginValue()
    bytes.append(quote)
    bytes += UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
    bytes.append(quote)
    bytes.append(colon)
    needsComma = false
  }

  /// Begins an object or array with `{` or `[`.
  public mutating func open(_ bracket: Unicode.Scalar) {
    beginValue()
    bytes.append(UInt8(ascii: bracket))
    needsComma = false
  }

  /// Ends an object or array with `}` or `]`.
  public mutating func close(_ bracket: Unicode.Scalar) {
    bytes.append(UInt8(ascii: bracket))
    needsComma = true
  }

  /// Writes a number, `true`, `false` or `null` as it is.
  mutating func word(_ word: String) {
    beginValue()
    bytes += word.utf8
  }

  /// Writes a whole number. To make strings of the numbers of a message would take 5 µs after a pause.
  mutating func number(_ value: Int64) {
    beginValue()
    if value < 0 { bytes.append(UInt8(ascii: "-")) }
    // The longest number has 19 digits.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var rest = value.magnitude
      var first = digits.count
      repeat {
        first -= 1
        digits[first] = UInt8(ascii: "0") + UInt8(rest % 10)
        rest /= 10
      } while rest > 0
      bytes += digits[first...]
    }
  }

  /// Writes a text in quotes.
  mutating func string(_ value: String) {
    beginValue()
    bytes.append(quote)
    var value = value
    let isPlain = value.withUTF8 { utf8 in
      for byte in utf8 where byte < 0x20 || byte >= 0x7f || byte == quote || byte == backslash {
        return false
      }
      bytes += utf8
      return true
    }
    if !isPlain { escape(value) }
    bytes.append(quote)
  }

  private mutating func beginValue() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  /// Escapes quotes, backslashes, and control, format and separator characters. JSON does not
  /// require all of these escapes, but its text is also shown on terminals, which interpret such
  /// characters.
  private mutating func escape(_ value: String) {
    for scalar in value.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator:
        for unit in String(scalar).utf16 {
          bytes += "\\u\(padded(unit, 4, radix: 16, "0"))".utf8
        }
      default:
        if scalar == "\"" || scalar == "\\" { bytes.append(backslash) }
        bytes += String(scalar).utf8
      }
    }
  }
}

private let quote = UInt8(ascii: "\"")
private let colon = UInt8(ascii: ":")
private let backslash = UInt8(ascii: "\\")

extension [UInt8] {
  /// Appends the JSON that `body` writes.
  ///
  /// - Parameter isFirst: `false` if the bytes end with a value of the same array or object.
  public mutating func appendJSON(isFirst: Bool = true, _ body: (inout JSONWriter) -> Void) {
    var json = JSONWriter(needsComma: !isFirst)
    // Swapping the arrays copies no bytes.
    swap(&json.bytes, &self)
    body(&json)
    swap(&json.bytes, &self)
  }
}
