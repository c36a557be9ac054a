import Terminal

/// Writes compact JSON: no spaces, members in the order of the calls.
///
///     bytes.appendJSON { json in
///       json.object { json in
///         json.member("sequence", change.sequence)
///         json.member("to", change.to)
///       }
///     }
///
/// Each message has a hundred short pieces, so they are collected in a window of memory on the
/// stack: an array asks at each piece whether it is shared and has room.
public struct JSONWriter: ~Copyable {
  fileprivate static let size = 1024

  /// What was written before what is in the window.
  fileprivate var bytes: [UInt8] = []
  private let window: UnsafeMutablePointer<UInt8>
  /// How many bytes of the window are written.
  private var count = 0
  /// Whether the next value follows another one of the same array or object.
  private var needsComma: Bool

  fileprivate init(_ window: UnsafeMutablePointer<UInt8>, needsComma: Bool) {
    (self.window, self.needsComma) = (window, needsComma)
  }

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
  mutating func member(escaping name: String, _ value: some JSONWritable) {
    string(name)
    append(colon)
    needsComma = false
    value.write(to: &self)
  }

  /// Writes the name of a member, which must need no escapes. The caller writes the value next.
  public mutating func name(_ name: StaticString) {
    let size = name.utf8CodeUnitCount
    precondition(size <= Self.size - 4)
    if Self.size - count < size + 4 { empty() }
    var end = window + count
    if needsComma {
      end[0] = UInt8(ascii: ",")
      end += 1
    }
    end[0] = quote
    (end + 1).update(from: name.utf8Start, count: size)
    end[size + 1] = quote
    end[size + 2] = colon
    count = end + size + 3 - window
    needsComma = false
  }

  /// Begins an object or array with `{` or `[`.
  public mutating func open(_ bracket: Unicode.Scalar) {
    beginValue()
    append(UInt8(ascii: bracket))
    needsComma = false
  }

  /// Ends an object or array with `}` or `]`.
  public mutating func close(_ bracket: Unicode.Scalar) {
    append(UInt8(ascii: bracket))
    needsComma = true
  }

  /// Writes a number, `true`, `false` or `null` as it is.
  mutating func word(_ word: String) {
    beginValue()
    append(word)
  }

  /// Writes a whole number. To make strings of a message's numbers would take 5 µs after a pause.
  mutating func number(_ value: Int64) {
    beginValue()
    if value < 0 { append(UInt8(ascii: "-")) }
    // The longest number has 19 digits.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var rest = value.magnitude
      var first = digits.count
      repeat {
        first -= 1
        digits[first] = UInt8(ascii: "0") + UInt8(rest % 10)
        rest /= 10
      } while rest > 0
      append(UnsafeBufferPointer(rebasing: digits[first...]))
    }
  }

  /// Writes a text in quotes.
  mutating func string(_ value: String) {
    beginValue()
    append(quote)
    let isPlain = value.utf8.withContiguousStorageIfAvailable { utf8 in
      guard utf8.isPlain else { return false }
      append(utf8)
      return true
    }
    if isPlain != true { escape(value) }
    append(quote)
  }

  private mutating func beginValue() {
    if needsComma { append(UInt8(ascii: ",")) }
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
          append("\\u\(padded(unit, 4, radix: 16, "0"))")
        }
      default:
        if scalar == "\"" || scalar == "\\" { append(backslash) }
        append(String(scalar))
      }
    }
  }

  @inline(__always)
  private mutating func append(_ byte: UInt8) {
    if count == Self.size { empty() }
    window[count] = byte
    count += 1
  }

  private mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { append($0) }
  }

  @inline(__always)
  private mutating func append(_ text: UnsafeBufferPointer<UInt8>) {
    guard text.count <= Self.size - count, let start = text.baseAddress else {
      for byte in text { append(byte) }
      return
    }
    (window + count).update(from: start, count: text.count)
    count += text.count
  }

  /// Appends what is in the window to ``bytes``, and empties the window.
  fileprivate mutating func empty() {
    bytes += UnsafeBufferPointer(start: window, count: count)
    count = 0
  }
}

private let quote = UInt8(ascii: "\"")
private let colon = UInt8(ascii: ":")
private let backslash = UInt8(ascii: "\\")

extension UnsafeBufferPointer<UInt8> {
  /// Whether these are characters of ASCII that need no escapes. Looks at eight at a time.
  fileprivate var isPlain: Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    // Bits are carried only from a character that is not plain, so one that is never counts alone.
    func isPlain(_ eight: UInt64) -> Bool {
      func zeros(_ eight: UInt64) -> UInt64 { (eight &- ones) & ~eight }
      let controls = (eight &- ones &* 0x20) & ~eight | eight | (eight &+ ones)
      let escaped = zeros(eight ^ ones &* UInt64(quote)) | zeros(eight ^ ones &* UInt64(backslash))
      return (controls | escaped) & (ones &* 0x80) == 0
    }
    let bytes = UnsafeRawBufferPointer(self)
    for index in 0..<count / 8 {
      guard isPlain(bytes.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self)) else {
        return false
      }
    }
    return isPlain(self[(count & ~7)...].reduce(ones &* 0x20) { $0 &<< 8 | UInt64($1) })
  }
}

extension [UInt8] {
  /// Appends the JSON that `body` writes.
  ///
  /// - Parameter isFirst: `false` if the bytes end with a value of the same array or object.
  public mutating func appendJSON(isFirst: Bool = true, _ body: (inout JSONWriter) -> Void) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: JSONWriter.size) { window in
      guard let start = window.baseAddress else { return }
      var json = JSONWriter(start, needsComma: !isFirst)
      // Swapping the arrays copies no bytes.
      swap(&json.bytes, &self)
      body(&json)
      json.empty()
      swap(&json.bytes, &self)
    }
  }
}
