import CommandLineTools
import EventRecordings
import KeyboardModes
import KeymodedConfiguration
import Replaying
import SystemCalls
import Timelines

/// `keymodectl replay FILE…`: prints the changes that the daemon would have published.
func replay(_ operands: [String], _ arguments: Arguments) throws -> Int32 {
  guard !operands.isEmpty else { throw UsageError("replay takes at least one file") }
  guard operands.count(where: { $0 == "-" }) <= 1 else {
    throw UsageError("standard input can be read only once")
  }
  let format = try arguments["--format"].map { name throws(UsageError) in
    guard let format = RecordingFormat(rawValue: name) else {
      let names = RecordingFormat.allCases.map(\.rawValue)
      throw UsageError("unknown format '\(name)'; the formats are\n\(wrapped(names))")
    }
    return format
  }
  let settings = try configuration(arguments).settings
  let window = try window(arguments)
  let picture = try arguments["--timeline"].map { try PictureFile($0) }
  var recording = try Recording(
    opening: operands, format: format, isLenient: arguments.has("--lenient")
  ) { complain("\($0)") }
  var output = ReplayOutput(
    asJSON: arguments.has("--json"),
    expected: try arguments["--expect"].map { try ExpectedChanges($0) })
  var replay = Replay(
    settings: settings, window: window,
    summary: ReplaySummary(
      statistics: arguments.has("--stats") ? ReplayStatistics() : nil,
      timeline: picture == nil ? nil : Timeline(keyboard: settings.keyboard)))
  try run(&replay, of: &recording, into: &output)
  if let timeline = replay.summary.timeline { try picture?.draw(timeline, of: operands) }
  return output.isDifferent ? ExitStatus.no : ExitStatus.done
}

private func window(_ arguments: Arguments) throws(UsageError) -> ReplayWindow {
  func time(_ option: String) throws(UsageError) -> Time? {
    try arguments[option].map(microseconds).map(Time.init)
  }
  return try ReplayWindow(from: time("--from"), until: time("--until"))
}

private func run(
  _ replay: inout Replay, of recording: inout Recording, into output: inout ReplayOutput
) throws {
  // If a line is invalid, the changes before it are shown nevertheless.
  defer { output.flush() }
  do {
    var progress = Progress()
    defer { progress.end() }
    var changes: [Change] = []
    while let count = try replay.next(from: &recording, into: &changes) {
      try output.show(changes, on: replay.clock)
      progress.update(recording, after: count)
    }
  } catch let fault as RecordingError {
    complain(ofSkipped: recording)
    throw recording.explained(fault)
  }
  complain(ofSkipped: recording)
  try output.end(replay)
}

/// Says how many faults `--lenient` has skipped, and which was the first.
private func complain(ofSkipped recording: borrowing Recording) {
  guard let first = recording.skipped.first else { return }
  let (count, fault) = (recording.skipped.count, recording.explained(first))
  complain(
    count == 1
      ? "1 error skipped:\n\(fault)"
      : "\(count) errors skipped; the first is:\n\(fault)")
}
