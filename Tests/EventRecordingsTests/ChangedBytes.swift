extension [UInt8] {
  /// The bytes with some bytes replaced, inserted or removed at random; new bytes come from `alphabet`.
  func withChangedBytes(
    _ counts: ClosedRange<Int>, from alphabet: [UInt8],
    using generator: inout some RandomNumberGenerator
  ) -> [UInt8] {
    var changed = self
    for _ in 0..<Int.random(in: counts, using: &generator) {
      let index = Int.random(in: 0..<changed.count, using: &generator)
      let byte = alphabet.randomElement(using: &generator) ?? 0
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: changed.remove(at: index)
      case 1: changed.insert(byte, at: index)
      default: changed[index] = byte
      }
    }
    return changed
  }
}
