import KeyboardModes

/// What a device is followed for.
public enum DeviceRole: Hashable, Sendable {
  /// All keys of a whole keyboard. Buttons that it has, as the receivers of some sets of keyboard
  /// and mouse do, are among them.
  case keyboard
  /// All keys of a device that is not a keyboard, but has a bound key.
  case keys
  /// The buttons of a pointer, and nothing else that it sends.
  case pointer
}

extension Keyboards.Selection {
  /// Whether a device of this kind can be selected, as far as this can be told without opening it.
  func mayHave(_ kind: DeviceKind?) -> Bool {
    guard case .all(_, _, let pointers) = self, let kind else { return true }
    return !kind.isDisjoint(with: pointers ? [.keyboard, .keys, .pointer] : [.keyboard, .keys])
  }

  /// What a device of this kind is followed for, by whether the rules allow it and which keys it
  /// has; `nil` if it is not selected.
  func role(
    of kind: DeviceKind, isAllowed: (DeviceRules) -> Bool, has: (KeyCode) -> Bool
  ) -> DeviceRole? {
    switch self {
    case .named:
      if kind.contains(.keyboard) { return .keyboard }
      return kind == .pointer ? .pointer : .keys
    case .all(let boundKeys, let rules, let pointers):
      guard mayHave(kind), isAllowed(rules) else { return nil }
      if kind.contains(.keyboard) { return .keyboard }
      if kind.contains(.keys), boundKeys.contains(where: has) { return .keys }
      return pointers && kind.contains(.pointer) ? .pointer : nil
    }
  }
}
