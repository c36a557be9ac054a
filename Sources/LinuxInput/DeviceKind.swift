internal import Evdev
internal import KeyboardModes
internal import Systemd

/// What kind of input device it is, in the words of udev's `input_id`.
enum DeviceKind: Hashable {
  /// It has a keyboard's keys: `ID_INPUT_KEYBOARD`.
  case keyboard
  /// It has some keys, such as the one for dictation, which come on a node of their own:
  /// `ID_INPUT_KEY`.
  case keys
  /// It has none; buttons of a mouse are no keys.
  case other

  /// What udev says.
  init(_ device: UdevDevice) {
    if device.property("ID_INPUT_KEYBOARD") == "1" {
      self = .keyboard
    } else {
      self = device.property("ID_INPUT_KEY") == "1" ? .keys : .other
    }
  }

  /// What udev would say of a device with these keys; see `test_key` in systemd's
  /// `udev-builtin-input_id.c`.
  init(_ keys: KeySet) {
    func has(_ number: UInt16) -> Bool { KeyCode(number).map(keys.contains) ?? false }
    // Esc, the digits, and Q to S: whatever has all of these is taken for a whole keyboard.
    if (1...31).allSatisfy(has) {
      self = .keyboard
    } else {
      self = Self.keyNumbers.contains { $0.contains(where: has) } ? .keys : .other
    }
  }

  /// The numbers between which the kernel has those of buttons, `BTN_*`.
  private static let keyNumbers: [Range<UInt16>] = [0..<0x100, 0x160..<0x220, 0x230..<0x2c0]
}
