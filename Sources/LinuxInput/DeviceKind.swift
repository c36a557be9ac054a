import Evdev
import KeyboardModes
import Systemd

/// What an input device is, as udev's `input_id` classifies it; a device can be more than one.
///
/// Source of the rules: `udev-builtin-input_id.c` of systemd.
struct DeviceKind: OptionSet, Hashable {
  let rawValue: UInt8

  /// It has a keyboard's keys: `ID_INPUT_KEYBOARD`.
  static let keyboard = DeviceKind(rawValue: 1)
  /// It has some keys, such as the one for dictation, which come on a node of their own:
  /// `ID_INPUT_KEY`. The buttons of a mouse are not keys.
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

  /// The kind that udev would assign to a device that describes itself so.
  init(_ device: DeviceDescription) {
    self = []
    let capabilities = Capabilities(device)
    // Esc, the digits, and Q to S: a device with all of these counts as a keyboard.
    if (1...31).allSatisfy(capabilities.keys.contains) { insert(.keyboard) }
    if capabilities.hasKey(in: Self.keyNumbers) { insert(.keys) }
    if capabilities.isPointer { insert(.pointer) }
  }

  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The ranges of key codes; the codes of buttons, `BTN_*`, lie between them.
  private static let keyNumbers: [Range<UInt16>] = [0..<0x100, 0x160..<0x220, 0x230..<0x2c0]
}

/// What a device can send, for the rules by which udev recognizes pointers. The numbers are from
/// `linux/input-event-codes.h`.
private struct Capabilities {
  let keys: Set<UInt16>
  private let relative: Set<UInt16>
  private let absolute: Set<UInt16>
  private let properties: Set<UInt16>

  init(_ device: DeviceDescription) {
    func codes(_ type: UInt16) -> Set<UInt16> {
      Set(device.types.first { $0.number == type }?.codes ?? [])
    }
    keys = codes(1)
    relative = codes(2)
    absolute = codes(3)
    properties = Set(device.properties)
  }

  func hasKey(in ranges: [Range<UInt16>]) -> Bool {
    keys.contains { key in ranges.contains { $0.contains(key) } }
  }

  /// Whether this is a mouse, a touchpad or a pointing stick.
  var isPointer: Bool {
    guard !isAccelerometer else { return false }
    if properties.contains(5) { return true }  // INPUT_PROP_POINTING_STICK
    guard !isTablet else { return false }
    return isTouchpad || isMouse
  }

  private var isAccelerometer: Bool {
    // INPUT_PROP_ACCELEROMETER; or ABS_X to ABS_Z and no key at all.
    properties.contains(6) || (keys.isEmpty && absolute.isSuperset(of: 0...2))
  }

  private var hasCoordinates: Bool { absolute.isSuperset(of: 0...1) }  // ABS_X, ABS_Y

  /// Whether it has coordinates of fingers. Some devices claim to have every axis, also the one
  /// before `ABS_MT_SLOT`, which none has.
  private var hasFingerCoordinates: Bool {
    absolute.isSuperset(of: 0x35...0x36) && !absolute.isSuperset(of: 0x2e...0x2f)
  }

  /// Whether it has `BTN_STYLUS` or `BTN_TOOL_PEN`.
  private var hasPen: Bool { !keys.isDisjoint(with: [0x14b, 0x140]) }

  private var isTablet: Bool {
    if hasPen { return hasCoordinates || hasFingerCoordinates }
    // The pad of a tablet: BTN_0, BTN_1, and a wheel or REL_HWHEEL alone.
    return keys.isSuperset(of: 0x100...0x101) && !relative.isDisjoint(with: [6, 8])
      && !relative.isSuperset(of: 0...1)
  }

  /// Whether it has a finger as a tool and is not a screen.
  private var isTouchpad: Bool {
    let isScreen = properties.contains(1)  // INPUT_PROP_DIRECT
    return (hasCoordinates || hasFingerCoordinates) && keys.contains(0x145) && !isScreen
  }

  /// Whether it has a button of a mouse, and moves by steps, or to a place as the mouse of a virtual
  /// machine does, or not at all. A game pad, which has buttons or axes of its own, is no mouse.
  private var isMouse: Bool {
    guard hasKey(in: [0x110..<0x120]) else { return false }
    return hasCoordinates || !isGamePad
  }

  private var isGamePad: Bool {
    hasKey(in: [0x120..<0x140, 0x220..<0x224, 0x2c0..<0x2e8]) || !absolute.isDisjoint(with: 3..<24)
  }
}
