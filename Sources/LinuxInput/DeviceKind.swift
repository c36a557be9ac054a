import KeyboardModes
import Systemd

/// The kind of an input device, as udev's `input_id` classifies it.
enum DeviceKind: Hashable {
  /// It has a keyboard's keys: `ID_INPUT_KEYBOARD`.
  case keyboard
  /// It has some keys, such as the one for dictation, which come on a node of their own:
  /// `ID_INPUT_KEY`.
  case keys
  /// It has no keys; the buttons of a mouse are not keys.
  case other

  /// The kind that udev assigned.
  init(_ device: UdevDevice) {
    if device.property("ID_INPUT_KEYBOARD") == "1" {
      self = .keyboard
    } else {
      self = device.property("ID_INPUT_KEY") == "1" ? .keys : .other
    }
  }

  /// The kind that udev would assign to a device with these keys; see `test_key` in systemd's
  /// `udev-builtin-input_id.c`.
  init(_ keys: KeySet) {
    func has(_ number: UInt16) -> Bool { KeyCode(number).map(keys.contains) ?? false }
    // Esc, the digits, and Q to S: a device with all of these counts as a keyboard.
    if (1...31).allSatisfy(has) {
      self = .keyboard
    } else {
      self = Self.keyNumbers.contains { $0.contains(where: has) } ? .keys : .other
    }
  }

  /// The ranges of key codes; the codes of buttons, `BTN_*`, lie between them.
  private static let keyNumbers: [Range<UInt16>] = [0..<0x100, 0x160..<0x220, 0x230..<0x2c0]
}
