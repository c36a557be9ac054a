/// A set of keys: one bit for each possible key code, without allocation.
public struct KeySet: Sendable {
  // Twelve words have a bit for every number up to `KeyCode.max`. A vector of sixteen is the
  // smallest that holds them inline.
  private var words = SIMD16<UInt64>()

  /// The empty set.
  public init() {}

  init(numbers ranges: [ClosedRange<UInt16>]) {
    for number in ranges.joined() {
      if let key = KeyCode(number) { insert(key) }
    }
  }

  /// Whether `key` is in the set.
  public func contains(_ key: KeyCode) -> Bool {
    words[Self.word(of: key)] & Self.bit(of: key) != 0
  }

  /// Adds `key`, which may be in the set already.
  public mutating func insert(_ key: KeyCode) {
    change(key) { $0 |= Self.bit(of: key) }
  }

  /// Removes `key`.
  ///
  /// - Returns: whether `key` was in the set.
  @discardableResult
  public mutating func remove(_ key: KeyCode) -> Bool {
    let wasThere = contains(key)
    change(key) { $0 &= ~Self.bit(of: key) }
    return wasThere
  }

  // In memory: setting an element of the vector would copy all of it.
  private mutating func change(_ key: KeyCode, _ body: (inout UInt64) -> Void) {
    withUnsafeMutableBytes(of: &words) { bytes in
      body(&bytes.assumingMemoryBound(to: UInt64.self)[Self.word(of: key)])
    }
  }

  private static func word(of key: KeyCode) -> Int { Int(key.number / 64) }
  private static func bit(of key: KeyCode) -> UInt64 { 1 &<< UInt64(key.number % 64) }
}
