/// A set of keys: one bit for each possible key code, without allocation.
public struct KeySet: Hashable, Sendable {
  private var words = SIMD16<UInt64>()

  /// The empty set.
  public init() {}

  /// The set of these keys.
  public init(_ keys: some Sequence<KeyCode>) {
    for key in keys { insert(key) }
  }

  /// Whether `key` is in the set.
  public func contains(_ key: KeyCode) -> Bool {
    words[Self.word(of: key.number)] & Self.bit(of: key) != 0
  }

  /// Adds `key`, which may be in the set already.
  public mutating func insert(_ key: KeyCode) {
    words[Self.word(of: key.number)] |= Self.bit(of: key)
  }

  /// Removes `key`, which need not be in the set.
  public mutating func remove(_ key: KeyCode) {
    words[Self.word(of: key.number)] &= ~Self.bit(of: key)
  }

  // `KeyCode.max` is in word 11. So the mask changes no index, but it spares a bounds check.
  private static func word(of number: UInt16) -> Int { Int(number / 64) & 15 }
  private static func bit(of key: KeyCode) -> UInt64 { 1 &<< UInt64(key.number % 64) }
}
