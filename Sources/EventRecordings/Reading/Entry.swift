import KeyboardModes

/// What a line, record or item of a recording says.
enum Entry {
  /// An event of the kernel.
  case event(InputEvent)
  /// These keys were down when the device was opened.
  case held([KeyCode], device: Int)
  /// Events of the device were lost; its next report has the differences that were found then.
  case lost(device: Int)
  /// The next report of the device is a release that a grab hid.
  case missed(device: Int)
  /// A report of the device ends, in a format that has a list for each report.
  case reportEnd(device: Int)
  /// The device was removed.
  case gone(device: Int, at: Time?)
  /// The line tells something that the user should know.
  case warning(String)
}

/// The notes that `keymodectl record` writes, so that a recording replays exactly. Other readers of
/// the formats ignore them.
///
///     # keymoded: held 001d 0038
///     # keymoded: lost
enum Note {
  /// The beginning of a note in a format with `#` comments.
  static let mark = "# keymoded: "
  static let held = "held"
  static let lost = "lost"
  /// In libinput's format only: another format has one device, and the order of its lines.
  static let missed = "missed"
  static let gone = "gone"
}

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
