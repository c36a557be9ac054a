import Configuration
import Glibc
import KeyboardModes
import Recordings
import Replay
import Session
import System
import Terminal
import Wire

/// `keymodectl replay FILE…`: prints the changes that the daemon would have published, and the
/// states at the end; with `--each`, of every recording by itself.
func replay(_ operands: [String], _ arguments: Arguments) throws -> Int32 {
  let (isEach, list) = (arguments.has("--each"), arguments["--files0-from"])
  guard !isEach || !arguments.isGiven("--timeline") else {
    throw UsageError("option '--timeline' does not work with '--each'")
  }
  let paths = try operands.map(Result.success) + (list.map(listedPaths) ?? [])
  guard !paths.isEmpty else { throw UsageError("replay takes at least one file") }
  guard (paths + [.success(list ?? "")]).count(where: { $0 == .success("-") }) <= 1 else {
    throw UsageError("standard input can be read only once")
  }
  let format = try format(arguments)
  let picture = arguments["--timeline"]
  let newReplay = try makeReplay(arguments, drawing: picture != nil)
  // A file with another ending may be a recording, which must not be overwritten. Image viewers
  // would refuse SVG in a file that is named as another format.
  if let picture, !picture.hasSuffix(".svg") {
    throw UsageError("a timeline is drawn as SVG only: '\(picture)' must end in .svg")
  }
  var output = Output()
  var status = ExitStatus.done
  for paths in isEach ? paths.map({ [$0] }) : [paths] {
    do {
      let files = try paths.map { try $0.get() }
      var recording = try Recording(
        opening: files, format: format, isLenient: arguments.has("--lenient")
      ) { printToStandardError("\($0)") }
      var replay = newReplay
      let file = isEach ? files.first : nil
      try print(&replay, of: &recording, file, asJSON: arguments.has("--json"), to: &output)
      if let picture, let timeline = replay.timeline {
        try output.flush()
        try draw(timeline, of: files, into: picture)
      }
    } catch let error as RecordingError where isEach {
      try output.flush()
      writeToStandardError("\(error)\n")
      status = ExitStatus.badInput
    }
  }
  try output.flush()
  return status
}

/// The paths in the file `list`, each ended by NUL as `find -print0` writes them; `-` is standard
/// input.
private func listedPaths(
  _ list: String
) throws(SystemError) -> [Result<String, RecordingError>] {
  let bytes = try contents(of: list == "-" ? "/dev/stdin" : list, limit: .max) ?? []
  return bytes.split(separator: 0).map { path in
    // Swift replaces bytes that are not UTF-8, and another file could have the resulting name.
    let text = String(decoding: path, as: UTF8.self)
    guard text.utf8.elementsEqual(path) else {
      return .failure(RecordingError("the name is not UTF-8", file: text))
    }
    return .success(text)
  }
}

private func format(_ arguments: Arguments) throws(UsageError) -> RecordingFormat? {
  guard let name = arguments["--format"] else { return nil }
  guard let format = RecordingFormat(rawValue: name) else {
    let names = RecordingFormat.allCases.map(\.rawValue)
    throw UsageError("unknown format '\(name)'; the formats are\n\(wrapped(names))")
  }
  return format
}

/// A new replay with the settings and the times of these options.
private func makeReplay(_ arguments: Arguments, drawing isDrawing: Bool) throws -> Replay {
  let settings = try configuration(arguments).settings
  func time(_ option: String) throws(UsageError) -> Time? {
    try arguments[option].map(microseconds).map(Time.init)
  }
  let (from, until) = (try time("--from"), try time("--until"))
  if let from, let until, until < from { throw UsageError("'--until' is earlier than '--from'") }
  return Replay(settings: settings, from: from, until: until, drawing: isDrawing)
}

/// Replays a recording to its end, and prints the changes. The changes before a fault come before
/// its message, even if standard output and standard error are one stream.
///
/// - Parameter file: the name of the recording in the output; `nil` without `--each`.
private func print(
  _ replay: inout Replay, of recording: inout Recording, _ file: String?, asJSON: Bool,
  to output: inout Output
) throws {
  if let file, !asJSON { try output.line("==> \(file) <==") }
  func state(_ states: States, at time: Time) -> StateMessage {
    StateMessage(
      instance: "replay", time: time, states: states, shiftTrigger: replay.settings.shiftTrigger)
  }
  // With `--each`, all JSON lines are changes, so that the recordings together make one table.
  let printsStates = asJSON && file == nil
  var hasPrintedStart = false
  do {
    while let changes = try replay.next(from: &recording) {
      if printsStates, !hasPrintedStart, let (states, time) = replay.start {
        try output.line(json: state(states, at: time))
        hasPrintedStart = true
      }
      for change in changes {
        if asJSON {
          try output.line(json: ReplayedChange(file: file, change: change))
        } else {
          try output.line(ChangeLine.text(of: change, at: replay.clock.shown(change.time)))
        }
      }
    }
  } catch let error as RecordingError {
    try output.flush()
    printSkippedErrors(of: recording)
    throw recording.explained(error)
  }
  let (states, time) = (replay.states, replay.time ?? Time(microseconds: 0))
  if printsStates {
    if !hasPrintedStart { try output.line(json: state(states, at: time)) }
    try output.line(json: state(states, at: time))
  } else if !asJSON {
    let time = replay.clock.shown(time)
    // Leaves out the locks that are unknown: most recordings have no LEDs.
    try output.line(
      ChangeLine.text(of: states, at: time, for: states.shownMachines(withLocks: .off, .on)))
  }
  let unused = recording.unusedFiles
  if recording.skipped.count > 0 || !unused.isEmpty { try output.flush() }
  printSkippedErrors(of: recording)
  for file in unused { printToStandardError("no event of a key or an LED was read from '\(file)'") }
}

/// A change, and the name of its recording if `--each` is given.
private struct ReplayedChange: JSONWritable {
  let file: String?
  let change: Change

  func write(to json: inout JSONWriter) {
    json.object { json in
      if let file { json.member("file", file) }
      change.writeMembers(to: &json)
    }
  }
}

/// Says how many faults `--lenient` has skipped, and which was the first.
private func printSkippedErrors(of recording: borrowing Recording) {
  guard let first = recording.skipped.first else { return }
  let (count, fault) = (recording.skipped.count, recording.explained(first))
  printToStandardError(
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
