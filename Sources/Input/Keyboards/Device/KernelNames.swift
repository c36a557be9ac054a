import CLibevdev
public import KeyboardModes

/// The name of a type of event, such as `EV_KEY`; `nil` if the type has none.
public func eventTypeName(_ type: UInt16) -> String? {
  libevdev_event_type_get_name(UInt32(type)).map { String(cString: $0) }
}

/// The name of a code of a type of event, such as `KEY_A`; `nil` if the code has none.
public func eventCodeName(_ type: UInt16, _ code: UInt16) -> String? {
  libevdev_event_code_get_name(UInt32(type), UInt32(code)).map { String(cString: $0) }
}

extension KeyCode {
  /// The key of this name, as in the kernel's header (`KEY_SCROLLLOCK`), or `nil`.
  public init?(name: String) {
    guard !name.utf8.contains(0) else { return nil }  // to C, the name would end there
    let code = libevdev_event_code_from_name(UInt32(EV_KEY), name)
    guard let number = code >= 0 ? Int(code) : Self.namesMissingInLibevdev[name] else { return nil }
    self.init(number)
  }

  /// Names in the kernel's header that libevdev, or an older version of it, lacks: second names of
  /// keys, beginnings of ranges, and new keys.
  static let namesMissingInLibevdev = [
    "KEY_MIN_INTERESTING": 0x71, "KEY_HANGUEL": 0x7a, "KEY_SCREENLOCK": 0x98,
    "KEY_DIRECTION": 0x99, "KEY_DASHBOARD": 0xcc, "KEY_BRIGHTNESS_ZERO": 0xf4, "KEY_WIMAX": 0xf6,
    "BTN_MISC": 0x100, "BTN_MOUSE": 0x110, "BTN_JOYSTICK": 0x120, "BTN_GAMEPAD": 0x130,
    "BTN_DIGI": 0x140, "BTN_WHEEL": 0x150, "KEY_ZOOM": 0x174, "KEY_SCREEN": 0x177,
    "KEY_BRIGHTNESS_TOGGLE": 0x1af, "KEY_LINK_PHONE": 0x1bf, "KEY_REFRESH_RATE_TOGGLE": 0x232,
    "KEY_ACCESSIBILITY": 0x24e, "KEY_DO_NOT_DISTURB": 0x24f, "BTN_TRIGGER_HAPPY": 0x2c0,
  ]
}

extension LEDs {
  /// The LED of this name, as in the kernel's header (`LED_CAPSL`), or `nil`.
  public init?(name: String) {
    guard let number = Self.allNames.firstIndex(of: name) else { return nil }
    self.init(number: UInt16(number))
  }

  /// The names of these LEDs.
  public var names: [String] { numbers.compactMap { eventCodeName(UInt16(EV_LED), $0) } }

  /// The names of all LEDs that the kernel's header had when libevdev was built. The index of a
  /// name is the LED's number. `LED_MAX`, which has a name too, is the limit and no LED.
  public static let allNames = (0..<UInt16(LED_MAX)).compactMap {
    eventCodeName(UInt16(EV_LED), $0)
  }
}
