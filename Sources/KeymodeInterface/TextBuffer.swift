internal import JSON

/// Text that is put together in memory that is there already.
///
/// - Precondition: it has room for all that is appended.
public struct TextBuffer {
  private let room: UnsafeMutableBufferPointer<UInt8>
  private var count = 0

  /// An empty text.
  fileprivate init(_ room: UnsafeMutableBufferPointer<UInt8>) { self.room = room }

  /// What was appended.
  public var written: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: room[..<count]) }

  /// Appends text that is known when the program is compiled.
  @inline(__always)
  public mutating func append(_ text: StaticString) {
    append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends a name of letters and the like, as those of all shipped machines are.
  ///
  /// - Returns: whether it is one. Others may need to be escaped, or be wider or narrower than they have
  ///   bytes; of those nothing is appended.
  public mutating func append(name: String) -> Bool {
    var name = name
    return name.withUTF8 { text in
      // All bytes are looked at, whatever they are, for that can be done to many at a time.
      var others = 0
      for byte in text { others &+= JSON.standsForItself(byte) ? 0 : 1 }
      guard others == 0 else { return false }
      append(text)
      return true
    }
  }

  /// Appends a number, with zeros before it where it has fewer digits.
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
    // The largest has 19, and the limit above it is one that there is.
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

/// Calls `body` with an empty text that holds so many bytes, on the stack unless they are very many.
public func withTextBuffer<Result>(
  holding capacity: Int, _ body: (inout TextBuffer) -> Result
) -> Result {
  withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { room in
    var text = TextBuffer(room)
    return body(&text)
  }
}
