/// Builds text in a buffer of fixed size, which must have room for everything that is appended.
public struct TextBuffer {
  @usableFromInline let start: UnsafeMutablePointer<UInt8>
  @usableFromInline let limit: UnsafeMutablePointer<UInt8>
  /// Where the next byte goes.
  @usableFromInline var end: UnsafeMutablePointer<UInt8>

  /// An empty text.
  @usableFromInline init(_ start: UnsafeMutablePointer<UInt8>, capacity: Int) {
    (self.start, limit, end) = (start, start + capacity, start)
  }

  /// What was appended.
  public var written: UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: start, count: end - start)
  }

  /// How many more bytes the buffer can hold.
  @inlinable var free: Int { limit - end }

  /// Appends a string literal.
  @inlinable @inline(__always)
  public mutating func append(_ text: StaticString) {
    let count = text.utf8CodeUnitCount
    precondition(count <= free)
    end.update(from: text.utf8Start, count: count)
    end += count
  }

  /// Appends a name of printable ASCII without `"` and `\`, as all names of the shipped machines
  /// are.
  ///
  /// - Returns: whether the name is like that. If not, nothing is appended: the name may need
  ///   escapes, or take more or fewer columns than bytes.
  public mutating func append(name: String) -> Bool {
    var name = name
    return name.withUTF8 { append(plain: $0) }
  }

  /// The same for the bytes of a name.
  mutating func append(plain text: UnsafeBufferPointer<UInt8>) -> Bool {
    precondition(text.count <= free)
    var next = end
    for byte in text {
      guard 0x20..<0x7f ~= byte, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") else {
        return false
      }
      next.pointee = byte
      next += 1
    }
    end = next
    return true
  }

  /// Appends a number, padded with leading zeros to at least `digits` digits.
  public mutating func append(_ number: Int64, digits: Int = 1) {
    if number < 0 { append("-") }
    var rest = number.magnitude
    let width = max(Self.width(of: number), digits)
    precondition(width <= free)
    end += width
    var next = end
    for _ in 0..<width {
      next -= 1
      next.pointee = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
  }

  /// How many digits `number` has.
  public static func width(of number: Int64) -> Int {
    var width = 1
    var limit: UInt64 = 10
    // An Int64 has at most 19 digits, and UInt64 can hold the limit 10^19.
    while number.magnitude >= limit {
      width += 1
      limit *= 10
    }
    return width
  }

  /// Appends spaces.
  public mutating func append(spaces: Int) {
    guard spaces > 0 else { return }
    precondition(spaces <= free)
    end.update(repeating: UInt8(ascii: " "), count: spaces)
    end += spaces
  }
}

/// Calls `body` with an empty buffer for `capacity` bytes, on the stack unless it is large.
@inlinable
public func withTextBuffer<Result>(
  holding capacity: Int, _ body: (inout TextBuffer) -> Result
) -> Result {
  withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { room in
    guard let start = room.baseAddress else { preconditionFailure("a buffer without memory") }
    var text = TextBuffer(start, capacity: capacity)
    return body(&text)
  }
}
