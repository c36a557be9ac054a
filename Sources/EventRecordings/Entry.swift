internal import KeyboardModes

/// What one line, record or item of a recording says.
enum Entry {
  /// An event, as the kernel reported it.
  case event(InputEvent)
  /// These keys were down when the device was opened.
  case held([KeyCode], device: Int)
  /// Events of the device were lost; its next report holds the differences that were found then.
  case lost(device: Int)
  /// A report of the device ends, in a format that keeps each in a list of its own.
  case reportEnd(device: Int)
  /// The device was removed.
  case gone(device: Int, at: Time?)
}

/// The notes of keymodectl, which a recording needs to replay exactly what was recorded, and which
/// the tools that made up the formats pass over.
///
///     # keymoded: held 001d 0038
///     # keymoded: lost
enum Note {
  /// What all of them begin with in a format whose comments begin with `#`.
  static let mark = "# keymoded: "
  static let held = "held"
  static let lost = "lost"
  static let gone = "gone"
}
