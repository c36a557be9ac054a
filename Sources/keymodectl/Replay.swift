import EventRecordings
import Glibc
import KeyboardModes
import KeymodeInterface
import KeymodedConfiguration
import SystemCalls
import Timelines

/// `keymodectl replay FILE…`: what the daemon would have published, had it followed the devices.
func replay(_ operands: [String], _ arguments: Arguments) throws -> Int32 {
  guard !operands.isEmpty else { throw UsageError("replay takes at least one file") }
  guard operands.count(where: { $0 == "-" }) <= 1 else {
    throw UsageError("standard input can be read only once")
  }
  let format = try arguments["--format"].map { name throws(UsageError) in
    guard let format = RecordingFormat(rawValue: name) else {
      let names = RecordingFormat.allCases.map(\.rawValue)
      throw UsageError("unknown format '\(name)'; there are\n\(wrapped(names))")
    }
    return format
  }
  let settings =
    try arguments["--config"].map { try Configuration.load($0) }?.settings ?? Settings()
  let window = try ReplayWindow(
    from: arguments["--from"].map(seconds), until: arguments["--until"].map(seconds))
  if let path = arguments["--timeline"] { try checkPicture(path) }
  let recording = try Recording(
    opening: operands, format: format, isLenient: arguments.has("--lenient")
  ) { complain("\($0)") }
  var replay = Replay(
    settings: settings, window: window, asJSON: arguments.has("--json"),
    expected: try arguments["--expect"].map { try ExpectedChanges($0) },
    timeline: arguments.isGiven("--timeline") ? Timeline(keyboard: settings.keyboard) : nil,
    statistics: arguments.has("--stats") ? ReplayStatistics() : nil)
  try replay.run(recording)
  if let path = arguments["--timeline"] {
    let title = operands.map { $0 == "-" ? "standard input" : baseName($0) }
    try replay.draw(title.joined(separator: ", "), to: path)
  }
  return replay.isDifferent ? Status.no : 0
}

/// The part of a replay that is shown. Times are those that people are shown: see ``ChangeLine``.
struct ReplayWindow {
  let from: Time?
  let until: Time?

  init(from: Time?, until: Time?) throws(UsageError) {
    if let from, let until, until < from { throw UsageError("'--until' lies before '--from'") }
    self.from = from
    self.until = until
  }
}

/// A time as people write it: seconds, with up to six digits after the point.
func seconds(_ text: String) throws(UsageError) -> Time {
  let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
  let fraction = parts.count == 2 ? parts[1] : "0"
  guard (parts + [fraction]).allSatisfy({ $0.allSatisfy { "0"..."9" ~= $0 } }),
    1...12 ~= parts[0].count, 1...6 ~= fraction.count, let seconds = Int64(parts[0]),
    let microseconds = Int64(fraction + String(repeating: "0", count: 6 - fraction.count))
  else { throw UsageError("time '\(text)' is not seconds, such as 12.5") }
  return Time(microseconds: seconds * 1_000_000 + microseconds)
}

/// A picture may take the place of an older one, but of nothing else: recordings have been lost that
/// way.
private func checkPicture(_ path: String) throws {
  var status = stat()
  guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else {
    return
  }
  var start = [UInt8](repeating: 0, count: 4)
  let file = try FileDescriptor.opening(path)
  let count = try start.withUnsafeMutableBytes { try file.read(into: $0) }
  guard start[..<count].elementsEqual("<svg".utf8) else {
    throw UsageError("'\(path)' is there and no picture, so it is left alone")
  }
}

private func baseName(_ path: String) -> String {
  path.split(separator: "/").last.map(String.init) ?? path
}

/// One replay, from the first input to the last.
private struct Replay: ~Copyable {
  private let window: ReplayWindow
  private let asJSON: Bool
  private var controller: Controller
  private var expected: ExpectedChanges?
  private var timeline: Timeline?
  private var statistics: ReplayStatistics?
  private var output = Output.standard()
  private var progress = Progress()
  private var clock = ChangeLine.Clock.own

  /// The time that is reached, and the one from which on changes are shown.
  private var time: Time?
  private var start = Time(microseconds: .min)
  private var isInWindow = false

  /// Whether there is more in the recording than is shown.
  private var isCut = false

  /// Whether the changes are not those that were expected. Of what differs the first is told.
  private(set) var isDifferent = false

  init(
    settings: Settings, window: ReplayWindow, asJSON: Bool, expected: consuming ExpectedChanges?,
    timeline: Timeline?, statistics: ReplayStatistics?
  ) {
    controller = Controller(settings: settings)
    self.window = window
    self.asJSON = asJSON
    self.expected = expected
    self.timeline = timeline
    self.statistics = statistics
  }

  mutating func run(_ recording: consuming Recording) throws {
    var recording = recording
    // The changes before a line that is wrong are right, and shown.
    defer { output.flush() }
    defer { progress.end() }
    do {
      try takeAll(&recording)
    } catch let fault as RecordingError {
      tellSkipped(recording)
      throw recording.explained(fault)
    }
    tellSkipped(recording)
    if !isCut { try endOfRecording() }
    try end()
  }

  private mutating func takeAll(_ recording: inout Recording) throws {
    while let batch = try recording.next(), try take(batch) {
      progress.update(recording, after: batch.count)
    }
  }

  private func tellSkipped(_ recording: borrowing Recording) {
    guard let first = recording.skipped.first else { return }
    let (count, fault) = (recording.skipped.count, recording.explained(first))
    complain(
      count == 1
        ? "1 fault passed over:\n\(fault)"
        : "\(count) faults passed over, the first of them:\n\(fault)")
  }

  private mutating func tell(_ difference: ReplayDifference) {
    isDifferent = true
    output.line(difference.text)
  }

  /// No time goes by after the last event, so nothing is due later. What waits for another event is
  /// decided.
  private mutating func endOfRecording() throws {
    guard let time else { return }
    var changes: [Change] = []
    controller.end(at: time) { changes.append($0) }
    try take(changes)
  }

  /// - Returns: whether the time, if it is known, is still to be shown.
  private mutating func reach(_ now: Time?) throws -> Bool {
    guard let now else { return true }
    if time == nil { begin(at: now) }
    if let until = window.until, clock.shown(now) > until {
      try pass(to: clock.recorded(until))
      isCut = true
      return false
    }
    try pass(to: now)
    time = now
    if now >= start { enterWindow(at: now) }
    return true
  }

  /// What was due by `now`, though nothing happened.
  private mutating func pass(to now: Time) throws {
    while let due = controller.deadline, due <= now {
      // What is due in the window shows that it has begun.
      if due >= start { enterWindow(at: due) }
      var changes: [Change] = []
      controller.advance(to: due) { changes.append($0) }
      try take(changes)
      time = max(time ?? due, due)
    }
  }

  private mutating func begin(at first: Time) {
    clock = ChangeLine.Clock(startingWith: first)
    if let from = window.from { start = clock.recorded(from) }
  }

  /// What is shown begins, with the states that all before led to.
  private mutating func enterWindow(at now: Time) {
    guard !isInWindow else { return }
    isInWindow = true
    let begin = window.from == nil ? now : start
    timeline?.begin(at: begin, shift: controller.modes.shift, keyboard: controller.modes.keyboard)
  }

  private mutating func take(_ next: RecordedInput) throws {
    if case .key(let device, let event) = next.input, event.action == .press,
      statistics != nil || timeline != nil
    {
      if controller.isBounce(pressOf: event.key, on: device, at: event.time) {
        statistics?.countBounce()
      } else {
        let meaning = controller.meaning(ofPress: event.key, on: device)
        statistics?.count(press: meaning)
        if event.time >= start { timeline?.add(.init(meaning), at: event.time) }
      }
    }
    statistics?.count(next)
    var changes: [Change] = []
    controller.take(next.input) { changes.append($0) }
    try take(changes)
  }

  /// - Returns: whether all of them were still to be shown.
  private mutating func take(_ batch: RecordedBatch) throws -> Bool {
    switch batch {
    case .keys(let device, let events)
    where isInWindow && window.until == nil && statistics == nil && timeline == nil:
      // Only the changes matter.
      time = events.last?.time ?? time
      var changes: [Change] = []
      controller.take(events, on: device) { changes.append($0) }
      try take(changes)
    case .keys(let device, let events):
      for event in events {
        guard try reach(event.time) else { return false }
        try take(RecordedInput(device, event))
      }
    case .input(let next):
      guard try reach(next.time) else { return false }
      try take(next)
    }
    return true
  }

  private mutating func take(_ changes: [Change]) throws {
    for change in changes {
      statistics?.count(change)
      guard change.time >= start else { continue }
      timeline?.add(change)
      try show(change)
    }
  }

  private mutating func show(_ change: Change) throws {
    if expected != nil {
      if !isDifferent, let difference = try expected?.compare(change) { tell(difference) }
    } else if asJSON {
      output.line { change.writeJSON(to: &$0) }
    } else {
      output.line { ChangeLine.write(change, clock, to: &$0) }
    }
  }

  private mutating func end() throws {
    if !isDifferent, let difference = try expected?.end() { tell(difference) }
    if let time { timeline?.end(at: time) }
    if asJSON {
      if let statistics { output.line(statistics.json) }
      return
    }
    if let count = expected?.count {
      if !isDifferent {
        output.line("\(count) \(count == 1 ? "change" : "changes"), as expected")
      }
    } else {
      let now = time ?? Time(microseconds: 0)
      output.line("\(ChangeLine.text(of: controller.modes, at: now, clock: clock))")
    }
    if let statistics { output.line(statistics.text) }
  }

  func draw(_ title: String, to path: String) throws {
    guard let timeline else { return }
    let file = try FileDescriptor.opening(path, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o666)
    var text = timeline.svg(title: title)
    try text.withUTF8 { try writeAll(UnsafeRawBufferPointer($0), to: file.number, path) }
  }
}

extension Timeline.Press {
  fileprivate init(_ meaning: PressMeaning) {
    self =
      switch meaning {
      case .shift: .shift
      case .bound: .bound
      case .character: .character
      case .other: .other
      }
  }
}
