/// The words of a ``KeySet``, in place.
#if compiler(>=6.2)
  typealias KeySetWords = InlineArray<12, UInt64>
#else
  // Swift before 6.2 has no `InlineArray`; this is what `KeySet` uses of it.
  struct KeySetWords: Sendable {
    private var words: SIMD16<UInt64>

    init(repeating word: UInt64) { words = SIMD16(repeating: word) }

    subscript(unchecked index: Int) -> UInt64 {
      // The mask changes no index, but spares a bounds check.
      get { words[index & 15] }
      set { words[index & 15] = newValue }
    }
  }
#endif
