/// The meaning of a key's press with the held modifiers.
public enum PressMeaning: Hashable, Sendable {
  /// It is a Shift key: the press goes to the Shift machine.
  case shift
  /// It completes a bound chord.
  case bound(BoundPress)
  /// It types a character.
  case character
  /// It moves the cursor. A Shift that is held, or is pressed while this key is held, is part of
  /// a shortcut.
  case navigation
  /// It is a pointer's button: like `navigation` with ``Settings/pointers``, otherwise `inert`.
  case button
  /// It types no character. A Shift that is held is part of a shortcut.
  case other
  /// It is AltGr. Characters are typed with it, so Shift stays as it is.
  case altGr
  /// It means nothing: the code is of a game pad, a finger or a pen, not of a key.
  case inert

  var isShift: Bool { if case .shift = self { true } else { false } }
  var isCharacter: Bool { if case .character = self { true } else { false } }

  /// Whether it completes only chords with any modifiers, which leave Shift alone.
  var isByAny: Bool { if case .bound(let press) = self { press.isByAny } else { false } }
}

/// A press that completes bound chords.
public struct BoundPress: Hashable, Sendable {
  /// What it sends to each machine, in the order of the machines.
  public let uses: [MachineEvents]
  /// Whether it completes only chords with any modifiers. Such a press leaves Shift alone: it takes
  /// no press back, and it types nothing. Other presses can still become taps.
  public let isByAny: Bool
}

extension Bindings {
  /// The meaning of a press of `key` with these modifiers held.
  @inline(__always)  // Otherwise each press would retain and release all bindings.
  func meaning(of key: KeyCode, _ held: Modifiers) -> PressMeaning {
    if let press = bound(key, held) { return .bound(press) }
    let meaning = key.meaning
    return meaning == .character && !held.isDisjoint(with: .commands) ? .other : meaning
  }
}

extension KeyCode {
  /// Whether a press or repeat of the key types a character with these modifiers held.
  func types(with held: Modifiers) -> Bool { isCharacter && held.isDisjoint(with: .commands) }
}
