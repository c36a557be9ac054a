import KeyboardModes
import System

/// The kinds of an input device, as udev's `input_id` classifies it. A device can have several.
///
/// Source of the numbers: `udev-builtin-input_id.c` of systemd and `linux/input-event-codes.h`.
struct DeviceKind: OptionSet, Hashable {
  let rawValue: UInt8

  /// It has a keyboard's keys: `ID_INPUT_KEYBOARD`.
  static let keyboard = DeviceKind(rawValue: 1)
  /// It has some keys, such as a dictation key that has a node of its own: `ID_INPUT_KEY`. The
  /// buttons of a mouse are not keys.
  static let keys = DeviceKind(rawValue: 2)
  /// It is a mouse, a touchpad or a pointing stick: `ID_INPUT_MOUSE`, `ID_INPUT_TOUCHPAD`,
  /// `ID_INPUT_POINTINGSTICK`.
  static let pointer = DeviceKind(rawValue: 4)

  /// The kind that udev assigned.
  init(_ device: UdevDevice) {
    func has(_ property: String) -> Bool { device.property(property) == "1" }
    self = []
    if has("ID_INPUT_KEYBOARD") { insert(.keyboard) }
    if has("ID_INPUT_KEY") { insert(.keys) }
    if ["ID_INPUT_MOUSE", "ID_INPUT_TOUCHPAD", "ID_INPUT_POINTINGSTICK"].contains(where: has) {
      insert(.pointer)
    }
  }

  /// The kind that the device's description gives, if udev does not run or the user named the path.
  /// Keyboards and keys are as in udev. A pointer has a button of a mouse, but no button of a
  /// tablet or a game pad. Its axes do not matter, because only its buttons are followed.
  init(_ device: DeviceDescription) {
    let keys = device.keys
    func has(_ ranges: ClosedRange<UInt16>...) -> Bool {
      ranges.joined().contains { number in KeyCode(number).map(keys.contains) ?? false }
    }
    self = []
    // As in udev, a keyboard has every key from `KEY_ESC` (1) to `KEY_S` (31).
    if (1...31).allSatisfy({ has($0...$0) }) { insert(.keyboard) }
    // The codes of buttons, `BTN_*`, lie between and above these ranges.
    if has(0...0xff, 0x160...0x21f, 0x230...0x2bf) { insert(.keys) }
    let isTablet = has(0x100...0x101, 0x140...0x140, 0x14b...0x14b)
    let isGamePad = has(0x120...0x13f, 0x220...0x223, 0x2c0...0x2e7)
    if has(KeyCode.pointerButtonNumbers), !isTablet, !isGamePad { insert(.pointer) }
  }

  init(rawValue: UInt8) { self.rawValue = rawValue }
}
