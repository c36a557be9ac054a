import CLibevdev

/// The name of a type of event, such as `EV_KEY`, or `nil` where it has none.
public func eventTypeName(_ type: UInt16) -> String? {
  libevdev_event_type_get_name(UInt32(type)).map { String(cString: $0) }
}

/// The name of a code of that type, such as `KEY_A`, or `nil` where it has none.
public func eventCodeName(_ type: UInt16, _ code: UInt16) -> String? {
  libevdev_event_code_get_name(UInt32(type), UInt32(code)).map { String(cString: $0) }
}
