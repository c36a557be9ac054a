/// The meaning of a key's press with the held modifiers.
public enum PressMeaning: Hashable, Sendable {
  /// It is a Shift key: the press goes to the Shift machine.
  case shift
  /// It completes a chord that is bound to events of the keyboard machine.
  case bound(ChordUses)
  /// It types a character.
  case character
  /// Nothing but to move the cursor: a Shift that is held belongs to it, as in a shortcut, and so
  /// does one that is pressed while this key is held.
  case navigation
  /// A pointer's button: the same, if pointers count.
  case button
  /// Nothing; but a Shift that is held belongs to it.
  case other
  /// Nothing: the key is AltGr, with which characters are typed.
  case altGr
  /// Nothing at all: the code is not that of a key.
  case inert
}

extension Bindings {
  /// The meaning of a press of `key` with these modifiers held.
  @inline(__always)  // Otherwise each press would retain and release all bindings.
  func meaning(of key: KeyCode, _ held: Modifiers) -> PressMeaning {
    if let uses = self[Chord(held, key)] { return .bound(uses) }
    let meaning = key.meaning
    return meaning == .character && !held.isDisjoint(with: .commands) ? .other : meaning
  }
}

extension KeyCode {
  /// Whether a press or repeat of the key types a character with these modifiers held.
  func types(with held: Modifiers) -> Bool { isCharacter && held.isDisjoint(with: .commands) }
}
