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
/// It writes into a window of memory on the stack, which costs less for each short piece than an
/// array.
public struct JSONWriter: ~Copyable {
  /// What was written, but for what is in the window.
  fileprivate var bytes: [UInt8] = []
  private let window: UnsafeMutablePointer<UInt8>
  private let size: Int
  /// How many bytes of the window are written.
  private var count = 0
  /// Whether a value of the same array or object stands before.
  private var needsComma: Bool

  fileprivate init(_ window: UnsafeMutablePointer<UInt8>, size: Int, needsComma: Bool) {
    (self.window, self.size, self.needsComma) = (window, size, needsComma)
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
  public mutating func member(escaping name: String, _ value: some JSONWritable) {
    string(name)
    append(colon)
    needsComma = false
    value.write(to: &self)
  }

  /// Writes the name of a member, which must need no escapes. The value is next.
  public mutating func name(_ name: StaticString) {
    beginValue()
    let length = name.utf8CodeUnitCount
    // One check of the room for all of it: each message has many names. None is as long as the
    // window.
    if size - count < length + 3 { empty() }
    let place = window + count
    place[0] = quote
    (place + 1).update(from: name.utf8Start, count: length)
    place[length + 1] = quote
    place[length + 2] = colon
    count += length + 3
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

  /// Writes a whole number, without making a string of it first: each message has several numbers.
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
    var value = value
    let isPlain = value.withUTF8 { utf8 in
      for byte in utf8 where byte < 0x20 || byte >= 0x7f || byte == quote || byte == backslash {
        return false
      }
      append(utf8)
      return true
    }
    if !isPlain { escape(value) }
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

  // MARK: The window

  @inline(__always)
  private mutating func append(_ byte: UInt8) {
    if count == size { empty() }
    window[count] = byte
    count += 1
  }

  private mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { append($0) }
  }

  private mutating func append(_ text: UnsafeBufferPointer<UInt8>) {
    guard text.count <= size - count, let start = text.baseAddress else {
      for byte in text { append(byte) }
      return
    }
    (window + count).update(from: start, count: text.count)
    count += text.count
  }

  /// Moves what is in the window to the other bytes.
  fileprivate mutating func empty() {
    bytes += UnsafeBufferPointer(start: window, count: count)
    count = 0
  }
}

private let quote = UInt8(ascii: "\"")
private let colon = UInt8(ascii: ":")
private let backslash = UInt8(ascii: "\\")

extension [UInt8] {
  /// Appends the JSON that `body` writes.
  ///
  /// - Parameter isFirst: `false` after a value of the same array or object.
  public mutating func appendJSON(isFirst: Bool = true, _ body: (inout JSONWriter) -> Void) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1024) { window in
      guard let start = window.baseAddress else { return }
      var json = JSONWriter(start, size: window.count, needsComma: !isFirst)
      // Swapping the arrays copies no bytes.
      swap(&json.bytes, &self)
      body(&json)
      json.empty()
      swap(&json.bytes, &self)
    }
  }
}
