/// The meaning of a key's press with the held modifiers.
public enum PressMeaning: Hashable, Sendable {
  /// It is a Shift key: the press goes to the Shift machine.
  case shift
  /// It completes a chord that is bound to events of the keyboard machine.
  case bound(ChordUses)
  /// It types a character.
  case character
  /// Nothing; but a Shift that is held belongs to it, as in a shortcut.
  case other
  /// No event: the key is AltGr, or the code is not that of a key.
  case inert
}

extension Bindings {
  /// The meaning of a press of `key` with these modifiers held.
  @inline(__always)  // For the same reason as `kind(of:)`.
  func meaning(of key: KeyCode, _ held: Modifiers) -> PressMeaning {
    var kind = kind(of: key)
    if kind == .special {
      if key.isShift { return .shift }
      if let uses = self[Chord(held, key)] { return .bound(uses) }
      kind = key.kind
    }
    switch kind {
    case .character: return held.isDisjoint(with: .commands) ? .character : .other
    case .navigation, .button, .other, .special: return .other
    case .altGr, .inert: return .inert
    }
  }
}

extension KeyCode {
  /// Whether a press or repeat of the key types a character with these modifiers held.
  func types(with held: Modifiers) -> Bool { isCharacter && held.isDisjoint(with: .commands) }
}
