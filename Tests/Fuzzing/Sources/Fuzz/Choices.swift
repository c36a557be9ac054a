/// Decisions that the fuzzer's bytes make, one after the other: the first of all where none is left.
struct Choices {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var isEmpty: Bool { rest.isEmpty }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  mutating func number(below limit: Int) -> Int { Int(byte()) % limit }

  mutating func isTrue() -> Bool { byte() & 1 == 1 }

  /// Eight bytes as they stand, or fewer at the end.
  mutating func word() -> UInt64 { (0..<8).reduce(0) { word, _ in word << 8 | UInt64(byte()) } }

  /// All that is left.
  mutating func remaining() -> [UInt8] {
    defer { rest = [] }
    return Array(rest)
  }
}
