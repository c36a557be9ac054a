import CLibevdev
public import KeyboardModes

extension KeyCode {
  /// The key of this name, as in the kernel's header (`KEY_SCROLLLOCK`), or `nil`.
  public init?(name: String) {
    guard !name.utf8.contains(0) else { return nil }  // to C, the name would end there
    let code = libevdev_event_code_from_name(UInt32(EV_KEY), name)
    guard code >= 0 else { return nil }
    self.init(code)
  }

  /// The names of all keys that the kernel's header had when libevdev was built.
  public static let allNames = (0...KeyCode.max).compactMap { eventCodeName(UInt16(EV_KEY), $0) }
}
