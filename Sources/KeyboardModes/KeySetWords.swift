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
