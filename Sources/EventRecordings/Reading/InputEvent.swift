import KeyboardModes

/// One event of any type, as the kernel reports it: `struct input_event`.
struct InputEvent: Hashable {
  let time: Time
  let type: UInt16
  let code: UInt16
  let value: Int32

  /// The number of its device in the recording, from 0.
  var device = 0

  /// Types and codes of `linux/input-event-codes.h`.
  static let synchronization: UInt16 = 0
  static let key: UInt16 = 1
  static let miscellaneous: UInt16 = 4
  static let report: UInt16 = 0
  static let dropped: UInt16 = 3
  static let scanCode: UInt16 = 4
}
