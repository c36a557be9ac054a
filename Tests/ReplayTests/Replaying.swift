import KeyboardModes
import Recordings
import Replay
import TestSupport
import Testing

/// The result of a replay.
struct Replayed {
  var replay: Replay
  var changes: [Change] = []
  /// Why the recording could not be read to its end.
  var error: RecordingError?

  /// The sequence numbers of the changes.
  var numbers: [Int64] { changes.map(\.sequence) }
}

/// The time at this second, rounded to microseconds.
func second(_ number: Double) -> Time { Time(microseconds: Int64((number * 1_000_000).rounded())) }

/// A recording in evemu's format of events such as `1.250000 2a 1`: seconds with six digits, the
/// code of the key in hexadecimal, and 1 for a press, 0 for a release, 2 for an autorepeat.
func evemu(_ events: [String]) -> String {
  let lines = events.map { event in
    let parts = event.split(separator: " ").map(String.init)
    // With four digits each, as evemu-record writes them, the reader returns whole runs of events.
    return "E: \(parts[0]) 0001 00\(parts[1]) 000\(parts[2])\n"
  }
  return "# EVEMU 1.3\nN: a keyboard\n" + lines.joined()
}

/// Replays recordings, which are merged, from `from` until `until`, in shown seconds.
func replay(
  files: [String], from: Double? = nil, until: Double? = nil, settings: Settings = Settings(),
  drawing isDrawing: Bool = false, isLenient: Bool = false
) throws -> Replayed {
  let folder = try TemporaryFolder()
  let paths = try files.enumerated().map { try folder.write("\($0)", $1) }
  var recording = try Recording(opening: paths, isLenient: isLenient)
  var result = Replayed(
    replay: Replay(
      settings: settings, from: from.map(second), until: until.map(second), drawing: isDrawing))
  do throws(RecordingError) {
    while let changes = try result.replay.next(from: &recording) { result.changes += changes }
    let more = try result.replay.next(from: &recording)
    #expect(more == nil, "it stays ended")
  } catch let fault {
    result.error = fault
  }
  return result
}

/// Replays one recording of these events: see ``evemu(_:)``.
func replay(
  _ events: [String], from: Double? = nil, until: Double? = nil, settings: Settings = Settings(),
  drawing isDrawing: Bool = false
) throws -> Replayed {
  try replay(
    files: [evemu(events)], from: from, until: until, settings: settings, drawing: isDrawing)
}
