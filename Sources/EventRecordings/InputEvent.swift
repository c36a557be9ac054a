internal import KeyboardModes

/// One event as the kernel reports it, of whatever type: `struct input_event`.
struct InputEvent: Hashable {
  let time: Time
  let type: UInt16
  let code: UInt16
  let value: Int32

  /// Which device of the recording it is of, counted from 0.
  var device = 0

  /// The numbers of `linux/input-event-codes.h` that matter in any recording.
  static let synchronization: UInt16 = 0
  static let key: UInt16 = 1
  static let miscellaneous: UInt16 = 4
  static let report: UInt16 = 0
  static let dropped: UInt16 = 3
  static let scanCode: UInt16 = 4
}
