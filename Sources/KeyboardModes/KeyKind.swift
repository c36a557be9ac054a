/// What a press of a key can mean, whatever is held with it.
enum KeyKind: UInt8, Sendable {
  /// Nothing.
  case other
  /// A character, unless a command is given.
  case character
  /// Shift, or that a chord is completed: more has to be asked.
  case special

  /// The kinds of all keys, by their numbers, where chords end in the keys `bound`.
  static func all(bound: Set<KeyCode>) -> [KeyKind] {
    var kinds = [KeyKind](repeating: .other, count: Int(KeyCode.max) + 1)
    for key in (0...KeyCode.max).lazy.compactMap({ KeyCode($0) }) where key.isCharacter {
      kinds[Int(key.number)] = .character
    }
    for key in bound.union([.leftShift, .rightShift]) { kinds[Int(key.number)] = .special }
    return kinds
  }
}
