import KeyboardModes

/// The purpose for which a device is followed.
public enum DeviceRole: Hashable, Sendable {
  /// All keys and buttons of a whole keyboard. Some receivers have a keyboard and a mouse on one
  /// node.
  case keyboard
  /// All keys of a device that is not a whole keyboard, such as a small pad, or a separate node
  /// with a keyboard's volume keys.
  case keys
  /// Only the buttons of a pointer, not its other keys or its movements.
  case pointer
  /// Only the lock LEDs of the virtual keyboard that presses Shift for the user: no person presses
  /// its keys.
  case leds
}

extension Keyboards.Selection {
  /// Whether a device of this kind may be selected. `true` is not final: the rules judge the opened
  /// device.
  func maySelect(_ kind: DeviceKind?) -> Bool {
    guard case .all(_, let pointers) = self, let kind else { return true }
    return !kind.isDisjoint(with: pointers ? [.keyboard, .keys, .pointer] : [.keyboard, .keys])
  }

  /// The role of a device of this kind; `nil` if the device is not selected. `isAllowed` tells
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
