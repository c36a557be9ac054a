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
  static let report: UInt16 = 0
  static let dropped: UInt16 = 3
}

/// Finds the key events among the events of one device.
struct KeyEventFilter {
  /// After `SYN_DROPPED` the kernel's events make no sense until the next report begins.
  private var isSkipping = false

  /// - Returns: the key event that `event` is, if it is one that counts.
  mutating func take(_ event: InputEvent) throws(LineFault) -> KeyEvent? {
    switch (event.type, event.code) {
    case (InputEvent.synchronization, InputEvent.dropped):
      isSkipping = true
      return nil
    case (InputEvent.synchronization, InputEvent.report):
      isSkipping = false
      return nil
    case (InputEvent.key, _):
      guard let key = KeyCode(event.code) else {
        throw LineFault("key code \(event.code) is above \(KeyCode.max)")
      }
      guard let action = KeyEvent.Action(rawValue: event.value) else {
        throw LineFault("key value \(event.value) is not 0, 1 or 2")
      }
      return isSkipping ? nil : KeyEvent(time: event.time, key: key, action: action)
    default: return nil
    }
  }
}
