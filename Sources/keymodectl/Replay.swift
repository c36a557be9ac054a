import Glibc
import KeyboardModes
import Linux
import Recordings
import Replay
import Terminal

/// `keymodectl replay FILE…`: prints the changes that the daemon would have published.
func replay(_ paths: [String], _ arguments: Arguments) throws -> Int32 {
  guard !paths.isEmpty else { throw UsageError("replay takes at least one file") }
  guard paths.count(where: { $0 == "-" }) <= 1 else {
    throw UsageError("standard input can be read only once")
  }
  let request = try ReplayRequest(arguments)
  if arguments.has("--each") { return try replayEach(of: paths, request, arguments) }
  let picture = arguments["--timeline"]
  // It may be a recording, which must not be overwritten, or the name of a picture in another
  // format, which image viewers would refuse.
  if let picture, !picture.hasSuffix(".svg") {
    throw UsageError("a timeline is drawn as SVG only: '\(picture)' must end in .svg")
  }
  var recording = try request.recording(of: paths)
  var output = ReplayOutput(asJSON: request.asJSON)
  var replay = request.replay(drawing: picture != nil)
  do {
    // If a line is invalid, the changes before it are shown nevertheless.
    defer { output.flush() }
    try replay.run(&recording, into: &output)
  }
  if let picture, let timeline = replay.timeline {
    try draw(timeline, of: paths, into: picture)
  }
  return ExitStatus.done
}

/// Draws the timeline of these recordings into a file.
private func draw(
  _ timeline: Timeline, of recordings: [String], into path: String
) throws(SystemError) {
  let file = try FileDescriptor.opening(path, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o666)
  let names = recordings.map { path in
    path == "-" ? "standard input" : path.split(separator: "/").last.map(String.init) ?? path
  }
  let text = timeline.svg(title: names.joined(separator: ", "))
  try writeAll(Array(text.utf8), to: file.number, path)
}

/// `keymodectl replay --each FILE…`: prints the changes that each recording makes by itself.
private func replayEach(
  of paths: [String], _ request: ReplayRequest, _ arguments: Arguments
) throws -> Int32 {
  guard !arguments.isGiven("--timeline") else {
    throw UsageError("option '--timeline' does not work with '--each'")
  }
  var output = ReplayOutput(asJSON: request.asJSON, isShared: true)
  var status = ExitStatus.done
  for path in paths {
    do {
      var recording = try request.recording(of: [path])
      var replay = request.replay()
      output.begin(path)
      try replay.run(&recording, into: &output)
    } catch let fault as RecordingError {
      // The changes before the fault come first where both streams are one.
      output.flush()
      writeToStandardError("\(fault)\n")
      status = ExitStatus.badInput
    }
  }
  output.flush()
  return status
}

extension Replay {
  /// Replays a recording to its end, and says how many faults were skipped.
  fileprivate mutating func run(
    _ recording: inout Recording, into output: inout ReplayOutput
  ) throws {
    var changes: [Change] = []
    do throws(RecordingError) {
      while try next(from: &recording, into: &changes) { output.show(changes, on: clock) }
    } catch {
      output.flush()
      complain(ofSkipped: recording)
      throw recording.explained(error)
    }
    if recording.skipped.count > 0 {
      output.flush()
      complain(ofSkipped: recording)
    }
    output.end(self)
  }
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
