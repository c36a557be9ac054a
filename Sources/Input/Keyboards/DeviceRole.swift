import KeyboardModes

/// What a device is followed for.
public enum DeviceRole: Hashable, Sendable {
  /// All keys of a whole keyboard, and its buttons: the receivers of some sets of keyboard and
  /// mouse have both on one node.
  case keyboard
  /// All keys of a device that is not a keyboard: of a small pad, or of the node on which a
  /// keyboard has its volume keys.
  case keys
  /// The buttons of a pointer, and nothing else that it sends.
  case pointer
  /// Only the lock LEDs of the virtual keyboard that presses Shift for the user: no person presses
  /// its keys.
  case leds
}

extension Keyboards.Selection {
  /// Whether a device of this kind can be selected, as far as this can be told without opening it.
  func maySelect(_ kind: DeviceKind?) -> Bool {
    guard case .all(_, let pointers) = self, let kind else { return true }
    return !kind.isDisjoint(with: pointers ? [.keyboard, .keys, .pointer] : [.keyboard, .keys])
  }

  /// What a device of this kind is followed for; `nil` if it is not selected. `isAllowed` tells
  /// whether some rules allow the device. The rules do not apply to the virtual Shift.
  func role(
    of kind: DeviceKind, isAllowed: (DeviceRules) -> Bool, isVirtualShift: Bool = false
  ) -> DeviceRole? {
    if isVirtualShift { return .leds }
    switch self {
    case .named:
      if kind.contains(.keyboard) { return .keyboard }
      return kind == .pointer ? .pointer : .keys
    case .all(let rules, let pointers):
      guard maySelect(kind), isAllowed(rules) else { return nil }
      if kind.contains(.keyboard) { return .keyboard }
      if kind.contains(.keys) { return .keys }
      return pointers && kind.contains(.pointer) ? .pointer : nil
    }
  }
}
