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
/// Each message has about a hundred short pieces. A window of memory on the stack collects them:
/// an array would check for each piece whether the array is shared and has room.
public struct JSONWriter: ~Copyable {
  fileprivate static let size = 1024
  /// How many bytes at the end of the window are free before a name or a number is written. Writing
  /// a number needs room for twice its longest form.
  private static let margin = 64

  /// The bytes that come before the bytes in the window.
  fileprivate var bytes: [UInt8] = []
  private let window: UnsafeMutablePointer<UInt8>
  /// How many bytes of the window are written.
  private var count = 0
  /// Whether a comma comes before the next value or member.
  private var needsComma: Bool

  fileprivate init(_ window: UnsafeMutablePointer<UInt8>, needsComma: Bool) {
    (self.window, self.needsComma) = (window, needsComma)
  }

  /// Writes an object; `body` writes its members.
  public mutating func object(_ body: (inout JSONWriter) -> Void) {
    open("{")
    body(&self)
    close("}")
  }

  /// Writes a member of the present object. Its name must need no escapes.
  @inline(__always)
  public mutating func member(_ name: StaticString, _ value: some JSONWritable) {
    self.name(name)
    value.write(to: &self)
  }

  /// Writes a member of the present object. Escapes the name if needed.
  mutating func member(escaping name: String, _ value: some JSONWritable) {
    string(name)
    append(colon)
    needsComma = false
    value.write(to: &self)
  }

  /// Writes the name of a member; the caller writes the value next. The name must need no escapes.
  /// Inlined, so that the compiler knows the length of the name.
  @inline(__always)
  public mutating func name(_ name: StaticString) {
    let size = name.utf8CodeUnitCount
    precondition(size <= Self.margin - 4)
    let start = begin()
    start[0] = quote
    UnsafeMutableRawPointer(start + 1).copyMemory(from: name.utf8Start, byteCount: size)
    start[size + 1] = quote
    start[size + 2] = colon
    count += size + 3
    needsComma = false
  }

  /// Begins an object or array with `{` or `[`.
  public mutating func open(_ bracket: Unicode.Scalar) {
    begin()[0] = UInt8(ascii: bracket)
    count += 1
    needsComma = false
  }

  /// Ends an object or array with `}` or `]`.
  public mutating func close(_ bracket: Unicode.Scalar) {
    append(UInt8(ascii: bracket))
    needsComma = true
  }

  /// Writes `true`, `false` or `null`.
  mutating func literal(_ literal: StaticString) {
    let size = literal.utf8CodeUnitCount
    UnsafeMutableRawPointer(begin()).copyMemory(from: literal.utf8Start, byteCount: size)
    count += size
  }

  /// Writes a number, or `null`: JSON has no infinity and no NaN.
  mutating func number(_ value: Double) {
    begin()
    append(value.isFinite ? value.description : "null")
  }

  /// Writes a whole number. Strings for the numbers of a message would take 5 µs after a pause, as
  /// the processor's caches are cold then.
  mutating func number(_ value: Int64) {
    // The last digit is made first, and the longest number has 20 characters.
    let (start, longest) = (begin(), 20)
    let end = start + 2 * longest
    var (first, rest) = (end, value.magnitude)
    repeat {
      first -= 1
      first[0] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    } while rest > 0
    if value < 0 {
      first -= 1
      first[0] = UInt8(ascii: "-")
    }
    // Always copies `longest` bytes: for a constant size, the compiler needs no call.
    UnsafeMutableRawPointer(start).copyMemory(from: first, byteCount: longest)
    count += end - first
  }

  /// Writes a text in quotes.
  mutating func string(_ value: String) {
    begin()[0] = quote
    count += 1
    if value.utf8.withContiguousStorageIfAvailable({ appendPlain($0) }) != true { escape(value) }
    append(quote)
  }

  /// Makes room for a name or value, writes the comma before it, if needed, and returns where to
  /// write the name or value.
  @discardableResult
  private mutating func begin() -> UnsafeMutablePointer<UInt8> {
    if count > Self.size - Self.margin { flushWindow() }
    if needsComma {
      window[count] = UInt8(ascii: ",")
      count += 1
    }
    needsComma = true
    return window + count
  }

  /// Appends a text that is ASCII, needs no escapes and fits into the window. Returns `false` for
  /// any other text. Looks at eight characters at a time.
  private mutating func appendPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let first = text.baseAddress, text.count <= Self.size - Self.margin else { return false }
    if count + text.count > Self.size - Self.margin { flushWindow() }
    let start = UnsafeMutableRawPointer(window + count)
    start.copyMemory(from: first, byteCount: text.count)
    let ones: UInt64 = 0x0101_0101_0101_0101
    // Spaces fill up the last eight characters.
    start.storeBytes(of: ones &* 0x20, toByteOffset: text.count, as: UInt64.self)
    var offset = 0
    repeat {
      let eight = start.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      let escaped =
        ((eight ^ ones &* UInt64(quote)) &- ones) | ((eight ^ ones &* UInt64(backslash)) &- ones)
      // A byte that is not plain sets its highest bit here, and may set the highest bit of later
      // bytes.
      let found = eight | (eight &+ ones) | (eight &- ones &* 0x20) | escaped
      guard found & (ones &* 0x80) == 0 else { return false }
      offset += 8
    } while offset < text.count
    count += text.count
    return true
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
    if count == Self.size { flushWindow() }
    window[count] = byte
    count += 1
  }

  private mutating func append(_ text: String) { for byte in text.utf8 { append(byte) } }
  /// Appends the bytes in the window to ``bytes``, and empties the window.
  fileprivate mutating func flushWindow() {
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
  /// - Parameter isFirst: `false` if the bytes end with a value of the same array or object.
  public mutating func appendJSON(isFirst: Bool = true, _ body: (inout JSONWriter) -> Void) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: JSONWriter.size) { window in
      guard let start = window.baseAddress else { return }
      var json = JSONWriter(start, needsComma: !isFirst)
      // Swapping the arrays copies no bytes.
      swap(&json.bytes, &self)
      body(&json)
      json.flushWindow()
      swap(&json.bytes, &self)
    }
  }
}
