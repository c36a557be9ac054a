/// A set of keys: one bit for each possible key code, without allocation.
public struct KeySet: Sendable {
  #if compiler(>=6.2)
    // Not as `InlineArray<12, UInt64>`: the formatter of Swift 6.0 cannot read that, even here.
    private var words: InlineArray = [0 as UInt64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  #else
    private var words = KeySetWords()
  #endif

  /// The empty set.
  public init() {}

  /// The set of these keys.
  public init(_ keys: some Sequence<KeyCode>) {
    for key in keys { insert(key) }
  }

  /// Whether `key` is in the set.
  public func contains(_ key: KeyCode) -> Bool {
    words[unchecked: Self.word(of: key)] & Self.bit(of: key) != 0
  }

  /// Adds `key`, which may be in the set already.
  public mutating func insert(_ key: KeyCode) {
    words[unchecked: Self.word(of: key)] |= Self.bit(of: key)
  }

  /// Removes `key`, and returns whether it was in the set.
  @discardableResult
  public mutating func remove(_ key: KeyCode) -> Bool {
    let wasThere = contains(key)
    words[unchecked: Self.word(of: key)] &= ~Self.bit(of: key)
    return wasThere
  }

  /// Whether a key with one of these numbers is in the set. They must all lie within one word:
  /// divided by 64, they give the same number.
  func containsAny(of numbers: ClosedRange<UInt16>) -> Bool {
    let bits = words[unchecked: Int(numbers.lowerBound / 64)] >> (numbers.lowerBound % 64)
    return bits & (1 << UInt64(numbers.count) - 1) != 0
  }

  // The words have a bit for every number up to `KeyCode.max`, so indices need no bounds check.
  private static func word(of key: KeyCode) -> Int { Int(key.number / 64) }
  private static func bit(of key: KeyCode) -> UInt64 { 1 &<< UInt64(key.number % 64) }
}

#if compiler(<6.2)
  /// The words of a ``KeySet``, in place: what it uses of `InlineArray`, which Swift 6.2 has.
  struct KeySetWords: Sendable {
    private var words = SIMD16<UInt64>()

    subscript(unchecked index: Int) -> UInt64 {
      // The mask changes no index, but spares a bounds check.
      get { words[index & 15] }
      set { words[index & 15] = newValue }
    }
  }
#endif
