public import KeyboardModes

/// Key events of one device that stand one after the other in a recording, with nothing between them
/// that would mean anything.
///
/// Nearly all of any recording is such, so it is worth a way of its own: an input at a time costs a
/// call through a protocol and an enumeration with arrays in it for each event, which is more than
/// reading and replaying the event takes.
public struct KeyRun: Sendable {
  /// The most events of a run: few enough to stay in the fastest cache until they are used.
  static let capacity = 1024

  /// The device.
  public let device: DeviceID
  /// What happened to its keys, in order.
  public let events: [KeyEvent]
}

/// How much of a text or of records was taken.
struct RunLength {
  /// How many bytes.
  var bytes = 0
  /// How many lines or records.
  var parts = 0
  /// How many key events they held.
  var events = 0
}
