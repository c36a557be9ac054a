/// Writes compact JSON: no spaces, members in the order of the calls.
///
///     bytes.appendJSON { json in
///       json.object { json in
///         json.member("sequence", change.sequence)
///         json.member("to", change.to)
///       }
///     }
///
/// A buffer on the stack takes the text, so that the array seldom grows and nothing is allocated.
///
/// What writes a member is not inlined: a daemon that writes one message now and then runs code that
/// the processor's caches have lost, and then each line of code costs more than many instructions.
public struct JSONWriter: ~Copyable {
  /// The size of the buffer in bytes.
  @usableFromInline static let capacity = 512

  @usableFromInline var text: TextBuffer
  /// What the buffer had no room for, after the bytes that were there before.
  @usableFromInline var bytes: [UInt8] = []
  /// Whether a value of the same array or object stands before.
  @usableFromInline var needsComma: Bool

  @usableFromInline init(_ text: TextBuffer, isFirst: Bool) {
    self.text = text
    needsComma = !isFirst
  }

  /// Writes an object, whose members `body` writes.
  @inlinable @inline(__always)
  public mutating func object(_ body: (inout JSONWriter) -> Void) {
    open("{")
    body(&self)
    close("}")
  }

  /// Writes a member of the present object. Its name must need no escapes.
  @inlinable @inline(never)
  public mutating func member(_ name: StaticString, _ value: some JSONWritable) {
    self.name(name)
    value.write(to: &self)
  }

  /// Writes the name of a member, which must need no escapes. The value is next.
  @inline(never)
  public mutating func name(_ name: StaticString) {
    let length = name.utf8CodeUnitCount
    beginValue(upTo: length + 3)
    // Nothing below checks bounds.
    precondition(length + 3 <= text.free, "the name is longer than the buffer")
    // One pointer for all: after each write through one, the compiler reads the writer anew.
    let start = text.end
    start.pointee = UInt8(ascii: "\"")
    (start + 1).update(from: name.utf8Start, count: length)
    (start + 1 + length).pointee = UInt8(ascii: "\"")
    (start + 2 + length).pointee = UInt8(ascii: ":")
    text.end = start + 3 + length
    needsComma = false
  }

  /// Begins an object or array with `{` or `[`.
  @inline(never)
  public mutating func open(_ bracket: StaticString) {
    word(bracket)
    needsComma = false
  }

  /// Ends an object or array with `}` or `]`.
  @inline(never)
  public mutating func close(_ bracket: StaticString) {
    needsComma = false
    word(bracket)
  }

  /// Writes a value of at most 32 bytes as it is.
  @inline(never)
  public mutating func word(_ word: StaticString) {
    beginValue(upTo: 32)
    text.append(word)
  }

  /// Makes room for `count` bytes, at most the capacity, and writes a comma if one is needed.
  @inline(__always)
  mutating func beginValue(upTo count: Int) {
    if text.free <= count { flush() }
    if needsComma { text.append(",") }
    needsComma = true
  }

  /// Moves the text from the buffer to the array.
  @usableFromInline @inline(never)
  mutating func flush() {
    bytes.append(contentsOf: text.written)
    text.end = text.start
  }

  @usableFromInline
  mutating func number(_ number: Int64) {
    beginValue(upTo: 32)
    text.append(number)
  }

  @usableFromInline
  mutating func string(_ value: String) {
    var value = value
    let isWritten = value.withUTF8 { utf8 in
      // With both quotes, and the colon if this is a name.
      beginValue(upTo: utf8.count + 3)
      text.append("\"")
      guard utf8.count + 2 <= text.free, text.append(plain: utf8) else { return false }
      text.append("\"")
      return true
    }
    if !isWritten { escape(value) }
  }

  /// Writes the rest of a string that needs escapes or is longer than the buffer. Escapes quotes,
  /// backslashes, and control, format and separator characters. JSON does not require all of these
  /// escapes, but its text is also shown on terminals, which interpret such characters.
  private mutating func escape(_ value: String) {
    flush()
    for scalar in value.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator:
        for unit in String(scalar).utf16 {
          let digits = String(unit, radix: 16)
          bytes += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
        }
      default:
        if scalar == "\"" || scalar == "\\" { bytes.append(UInt8(ascii: "\\")) }
        bytes += String(scalar).utf8
      }
    }
    text.append("\"")
  }
}

extension [UInt8] {
  /// Appends the JSON that `body` writes; `isFirst`: whether no value of the same array or object
  /// stands before.
  @inlinable
  public mutating func appendJSON(isFirst: Bool = true, _ body: (inout JSONWriter) -> Void) {
    withTextBuffer(holding: JSONWriter.capacity) { text in
      var json = JSONWriter(text, isFirst: isFirst)
      swap(&json.bytes, &self)
      body(&json)
      json.flush()
      swap(&json.bytes, &self)
    }
  }
}
