internal import JSON

/// Builds text in a buffer of fixed size.
///
/// - Precondition: the buffer has room for everything that is appended.
public struct TextBuffer {
  private let room: UnsafeMutableBufferPointer<UInt8>
  private var count = 0

  /// An empty text.
  fileprivate init(_ room: UnsafeMutableBufferPointer<UInt8>) { self.room = room }

  /// What was appended.
  public var written: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: room[..<count]) }

  /// Appends a string literal.
  @inline(__always)
  public mutating func append(_ text: StaticString) {
    append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends a name of printable ASCII without `"` and `\`, as all names of the shipped machines
  /// are.
  ///
  /// - Returns: whether the name is like that. If not, nothing is appended: the name may need
  ///   escapes, or take more or fewer columns than bytes.
  public mutating func append(name: String) -> Bool {
    var name = name
    return name.withUTF8 { text in
      // Counts instead of stopping at the first, so that many bytes can be tested at a time.
      var others = 0
      for byte in text { others &+= JSON.standsForItself(byte) ? 0 : 1 }
      guard others == 0 else { return false }
      append(text)
      return true
    }
  }

  /// Appends a number, padded with leading zeros to at least `digits` digits.
  public mutating func append(_ number: Int64, digits: Int = 1) {
    if number < 0 { append("-") }
    var rest = number.magnitude
    let width = max(Self.width(of: number), digits)
    precondition(width <= room.count - count)
    var place = count + width
    while place > count {
      place -= 1
      room[place] = UInt8(ascii: "0") + UInt8(rest % 10)
      rest /= 10
    }
    count += width
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
    room[count..<count + spaces].update(repeating: UInt8(ascii: " "))
    count += spaces
  }

  @inline(__always)
  private mutating func append(_ text: UnsafeBufferPointer<UInt8>) {
    precondition(text.count <= room.count - count)
    guard let start = room.baseAddress, let source = text.baseAddress else { return }
    (start + count).update(from: source, count: text.count)
    count += text.count
  }
}

/// Calls `body` with an empty buffer for `capacity` bytes, on the stack unless it is large.
public func withTextBuffer<Result>(
  holding capacity: Int, _ body: (inout TextBuffer) -> Result
) -> Result {
  withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { room in
    var text = TextBuffer(room)
    return body(&text)
  }
}
