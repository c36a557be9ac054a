import Session
import Configuration
import Glibc
import KeyboardModes
import System
import Recordings
import Replay
import Terminal
import Wire

/// `keymodectl replay FILE…`: prints the changes that the daemon would have published, and the states
/// at the end.
func replay(_ paths: [String], _ arguments: Arguments) throws -> Int32 {
  guard !paths.isEmpty else { throw UsageError("replay takes at least one file") }
  guard paths.count(where: { $0 == "-" }) <= 1 else {
    throw UsageError("standard input can be read only once")
  }
  let format = try format(arguments)
  let picture = arguments["--timeline"]
  var replay = try replay(arguments, drawing: picture != nil)
  // Any other file may be a recording, which must not be overwritten, or a picture of another
  // format, which image viewers would refuse.
  if let picture, !picture.hasSuffix(".svg") {
    throw UsageError("a timeline is drawn as SVG only: '\(picture)' must end in .svg")
  }
  var recording = try Recording(
    opening: paths, format: format, isLenient: arguments.has("--lenient")
  ) { complain("\($0)") }
  try print(&replay, of: &recording, asJSON: arguments.has("--json"))
  if let picture, let timeline = replay.timeline {
    try draw(timeline, of: paths, into: picture)
  }
  return ExitStatus.done
}

private func format(_ arguments: Arguments) throws(UsageError) -> RecordingFormat? {
  guard let name = arguments["--format"] else { return nil }
  guard let format = RecordingFormat(rawValue: name) else {
    let names = RecordingFormat.allCases.map(\.rawValue)
    throw UsageError("unknown format '\(name)'; the formats are\n\(wrapped(names))")
  }
  return format
}

/// A replay that has not begun, by these options.
private func replay(_ arguments: Arguments, drawing isDrawing: Bool) throws -> Replay {
  let settings = try configuration(arguments).settings
  func time(_ option: String) throws(UsageError) -> Time? {
    try arguments[option].map(microseconds).map(Time.init)
  }
  let (from, until) = (try time("--from"), try time("--until"))
  if let from, let until, until < from { throw UsageError("'--until' is earlier than '--from'") }
  return Replay(settings: settings, from: from, until: until, drawing: isDrawing)
}

/// Replays a recording to its end, and prints the changes. If it has a fault, the changes before it
/// come first, also where standard output and standard error are one stream.
private func print(
  _ replay: inout Replay, of recording: inout Recording, asJSON: Bool
) throws {
  var output = Output()
  func state(_ modes: Modes, at time: Time) -> StateMessage {
    StateMessage(
      instance: "replay", time: time, modes: modes, shiftTrigger: replay.settings.shiftTrigger)
  }
  var hasStart = false
  do {
    while let changes = try replay.next(from: &recording) {
      if asJSON, !hasStart, let (modes, time) = replay.start {
        try output.line(json: state(modes, at: time))
        hasStart = true
      }
      for change in changes {
        if asJSON {
          try output.line(json: change)
        } else {
          try output.line(ChangeLine.text(of: change, at: replay.clock.shown(change.time)))
        }
      }
    }
  } catch let error as RecordingError {
    try output.flush()
    complain(ofSkipped: recording)
    throw recording.explained(error)
  }
  let (modes, time) = (replay.modes, replay.time ?? Time(microseconds: 0))
  if asJSON {
    if !hasStart { try output.line(json: state(modes, at: time)) }
    try output.line(json: state(modes, at: time))
  } else {
    let time = replay.clock.shown(time)
    // Without the locks that are unknown: most recordings have no LEDs.
    try output.line(
      ChangeLine.text(of: modes, at: time, for: Machine.modes + modes.locks(.off, .on)))
  }
  try output.flush()
  complain(ofSkipped: recording)
  for file in recording.unused { complain("no event of a key or an LED was read from '\(file)'") }
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
