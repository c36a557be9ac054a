/// The meaning of a key's press with the held modifiers.
public enum PressMeaning: Hashable, Sendable {
  /// It is a Shift key: the press goes to the Shift machine.
  case shift
  /// It completes a chord that is bound to this event of the keyboard machine.
  case bound(KeyboardTable.Event)
  /// It types a character.
  case character
  /// Nothing.
  case other
}

extension Bindings {
  /// The meaning of a press of `key` with these modifiers held.
  @inline(__always)  // For the same reason as `kind(of:)`.
  func meaning(of key: KeyCode, _ held: Modifiers) -> PressMeaning {
    switch kind(of: key) {
    case .other: return .other
    case .character: return held.isDisjoint(with: .commands) ? .character : .other
    case .special:
      if key.isShift { return .shift }
      if let event = self[Chord(held, key)] { return .bound(event) }
      return key.types(with: held) ? .character : .other
    }
  }
}

extension KeyCode {
  /// Whether a press or repeat of the key types a character with these modifiers held.
  func types(with held: Modifiers) -> Bool { isCharacter && held.isDisjoint(with: .commands) }
}
