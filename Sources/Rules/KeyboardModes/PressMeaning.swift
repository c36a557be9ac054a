/// The meaning of a key's press with the held modifiers.
public enum PressMeaning: Hashable, Sendable {
  /// The key is Shift: the press goes to the Shift machine.
  case shift
  /// The press completes a bound chord.
  case bound(BoundPress)
  /// The press types a character.
  case character
  /// The key moves the cursor. A Shift that is held, or is pressed while this key is held, is part
  /// of a shortcut.
  case navigation
  /// The key is a pointer's button: like `navigation` with ``Settings/pointers``, else `inert`.
  case button
  /// The press types no character. A Shift that is held is part of a shortcut.
  case other
  /// The key is AltGr. Characters are typed with AltGr, so Shift keeps its state.
  case altGr
  /// The press means nothing: the code is of a game pad, a finger or a pen, not of a key.
  case inert

  var isShift: Bool { if case .shift = self { true } else { false } }
  var isCharacter: Bool { if case .character = self { true } else { false } }

  /// Whether the press completes only chords of `Any+`; such a press leaves Shift alone.
  var allowsAnyModifiers: Bool {
    if case .bound(let press) = self { press.allowsAnyModifiers } else { false }
  }
}

/// A press that completes bound chords.
public struct BoundPress: Hashable, Sendable {
  /// The events for each machine, in the order of the machines.
  public let machineEvents: [MachineEvents]
  /// Whether the press completes only chords of `Any+`. Such a press leaves Shift alone:
  /// it takes no press back, and it types nothing. Other presses can still become taps.
  public let allowsAnyModifiers: Bool
}

extension Bindings {
  /// The meaning of a press of `key` with these modifiers held.
  @inline(__always)  // Otherwise each press would retain and release all bindings.
  func meaning(of key: KeyCode, _ held: Modifiers) -> PressMeaning {
    if let press = boundPress(of: key, held) { return .bound(press) }
    let meaning = key.meaning
    return meaning == .character && !held.isDisjoint(with: .commandModifiers) ? .other : meaning
  }
}

extension KeyCode {
  /// Whether a press or repeat of the key types a character with these modifiers held.
  func typesCharacter(with held: Modifiers) -> Bool {
    isCharacter && held.isDisjoint(with: .commandModifiers)
  }
}
