import CLibevdev
public import KeyboardModes

/// The name of a type of event, such as `EV_KEY`, or `nil` where it has none.
public func eventTypeName(_ type: UInt16) -> String? {
  libevdev_event_type_get_name(UInt32(type)).map { String(cString: $0) }
}

/// The name of a code of that type, such as `KEY_A`, or `nil` where it has none.
public func eventCodeName(_ type: UInt16, _ code: UInt16) -> String? {
  libevdev_event_code_get_name(UInt32(type), UInt32(code)).map { String(cString: $0) }
}

extension KeyCode {
  /// The key of this name, as in the kernel's header (`KEY_SCROLLLOCK`), or `nil`.
  public init?(name: String) {
    guard !name.utf8.contains(0) else { return nil }  // to C, the name would end there
    let code = libevdev_event_code_from_name(UInt32(EV_KEY), name)
    guard code >= 0 else { return nil }
    self.init(code)
  }
}

extension LEDs {
  /// The LED of this name, as in the kernel's header (`LED_CAPSL`), or `nil`.
  public init?(name: String) {
    guard let number = Self.allNames.firstIndex(of: name) else { return nil }
    self.init(number: UInt16(number))
  }

  /// The names of these LEDs.
  public var names: [String] { numbers.compactMap { eventCodeName(UInt16(EV_LED), $0) } }

  /// The names of all LEDs that the kernel's header had when libevdev was built, by their numbers.
  /// `LED_MAX`, which has a name too, is the limit and no LED.
  public static let allNames = (0..<UInt16(LED_MAX)).compactMap {
    eventCodeName(UInt16(EV_LED), $0)
  }
}
