internal import EventRecordings
internal import KeyboardModes

/// What one step through a recording yields.
enum RecordedBatch {
  /// Consecutive key events of one device, each at its own time.
  case keys(DeviceID, [KeyEvent])
  /// Any one input; its time is `nil` if the recording has none.
  case input(Controller.Input, at: Time?)
}

extension Recording {
  /// The next batch, as large as can be read quickly; `nil` at the end.
  mutating func nextBatch() throws(RecordingError) -> RecordedBatch? {
    if let run = nextKeys() { return .keys(run.device, run.events) }
    guard let next = try next() else { return nil }
    return .input(next.input, at: next.time)
  }
}
