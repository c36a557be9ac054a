/// The possible meanings of a key's press, whatever modifiers are held.
enum KeyKind: UInt8, Sendable {
  /// Nothing; but a Shift that is held belongs to it, as in a shortcut.
  case other
  /// Nothing at all: AltGr, and codes that are not keys.
  case inert
  /// A character, unless Ctrl, left Alt or Meta is held.
  case character
  /// The press of a Shift key, or of a key that completes a bound chord: the key and the held
  /// modifiers decide.
  case special

  /// The kinds of all keys, indexed by key number. `bound` has the keys that complete chords.
  static func all(bound: Set<KeyCode>) -> [KeyKind] {
    var kinds = [KeyKind](repeating: .other, count: Int(KeyCode.max) + 1)
    for key in (0...KeyCode.max).lazy.compactMap({ KeyCode($0) }) {
      if key.isCharacter { kinds[Int(key.number)] = .character }
      if key.isInert { kinds[Int(key.number)] = .inert }
    }
    for key in bound.union([.leftShift, .rightShift]) { kinds[Int(key.number)] = .special }
    return kinds
  }
}
