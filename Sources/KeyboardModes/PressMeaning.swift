/// What the press of a key means, given the modifiers that are held.
public enum PressMeaning: Hashable, Sendable {
  /// It is a Shift key, which belongs to the Shift machine.
  case shift
  /// It completes a chord that means this event of the keyboard machine.
  case bound(KeyboardTable.Event)
  /// It types a character.
  case character
  /// Nothing.
  case other
}

extension Bindings {
  /// What the press of `key` means with these modifiers held.
  @inline(__always)  // As with the kind.
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
