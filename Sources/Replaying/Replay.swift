public import EventRecordings
public import KeyboardModes
public import Timelines

/// One replay: passes what a recording holds to a controller, and yields the changes in a window.
///
///     var replay = Replay(settings: settings, window: window)
///     var changes: [Change] = []
///     while try replay.next(from: &recording, into: &changes) != nil { show(changes) }
///
///     recording   --P--R-----P----R------P-|   P, R: key events, each at its recorded time
///     window          |from        until|      the states at `from` come from the events before it
///
/// Time passes only from event to event: a deadline acts before the next event, one after the last
/// event never does. At `until`, deadlines of that time still act.
public struct Replay: Sendable {
  private let window: ReplayWindow
  private var controller: Controller
  private var bounds = (start: Time(microseconds: .min), end: Time?.none)
  private var isInWindow = false
  private var isEnded = false

  /// What was counted and drawn so far.
  public private(set) var summary: ReplaySummary
  /// The clock for showing this recording's times, known after the first event.
  public private(set) var clock = DisplayClock()
  /// The recorded time that the replay has reached; `nil` before the first event.
  public private(set) var time: Time?

  /// The present states.
  public var modes: Modes { controller.modes }

  /// A replay that has not begun.
  ///
  /// - Parameter summary: takes what is to be counted and drawn beside the changes.
  public init(settings: Settings, window: ReplayWindow, summary: ReplaySummary = ReplaySummary()) {
    controller = Controller(settings: settings)
    self.window = window
    self.summary = summary
  }

  /// Replays some more of `recording`.
  ///
  /// - Parameter changes: is replaced by the changes in the window that this caused.
  /// - Returns: how many inputs were replayed; `nil` if the replay has ended.
  /// - Throws: `RecordingError` for what cannot be read. The changes before it have been yielded.
  public mutating func next(
    from recording: inout Recording, into changes: inout [Change]
  ) throws(RecordingError) -> Int? {
    // The controller uses the memory again, if nobody else has it any more.
    changes = []
    guard !isEnded else { return nil }
    guard let batch = try recording.next() else {
      end(&changes)
      return 0
    }
    switch batch {
    case .keys(let device, let events):
      take(events, on: device, &changes)
      return events.count
    case .input(let next):
      if reach(next.time, &changes) { take(next.input, at: next.time, &changes) }
      return 1
    }
  }

  private mutating func take(
    _ events: [KeyEvent], on device: DeviceID, _ changes: inout [Change]
  ) {
    guard isInWindow, bounds.end == nil, !summary.isCollecting, let last = events.last else {
      for event in events where reach(event.time, &changes) {
        take(.key(device, event), at: event.time, &changes)
      }
      return
    }
    // Only the changes matter, so the controller can take all events at once.
    time = last.time
    changes = controller.take(events, on: device)
    collect(&changes, from: 0)
  }

  private mutating func take(
    _ input: Controller.Input, at time: Time?, _ changes: inout [Change]
  ) {
    summary.add(input, at: time, before: controller, from: bounds.start)
    let first = changes.count
    changes += controller.take(input)
    collect(&changes, from: first)
  }

  /// Adds the changes from index `first` on to the summary, and removes those before the window. A
  /// change can be earlier than the one before it: a tap has the time of its press.
  private mutating func collect(_ changes: inout [Change], from first: Int) {
    guard first < changes.count else { return }
    summary.add(changes[first...], from: bounds.start)
    if window.from != nil { changes.removeAll { $0.time < bounds.start } }
  }

  // MARK: Time

  /// Advances to the time of the next input; `nil` is no time, and always reached.
  ///
  /// - Returns: whether it is in or before the window. If not, the replay ends at `until`.
  private mutating func reach(_ now: Time?, _ changes: inout [Change]) -> Bool {
    guard !isEnded else { return false }
    guard let now else { return true }
    if time == nil {
      clock = DisplayClock(startingWith: now)
      bounds = window.bounds(on: clock)
    }
    if let end = bounds.end, now > end {
      advance(to: end, &changes)
      finish()
      return false
    }
    advance(to: now, &changes)
    time = now
    if now >= bounds.start { enterWindow(at: now) }
    return true
  }

  /// Lets deadlines until `now` act, each at its own time.
  private mutating func advance(to now: Time, _ changes: inout [Change]) {
    while let due = controller.deadline, due <= now {
      if due >= bounds.start { enterWindow(at: due) }
      let first = changes.count
      changes += controller.advance(to: due)
      collect(&changes, from: first)
      time = max(time ?? due, due)
    }
  }

  private mutating func enterWindow(at now: Time) {
    guard !isInWindow else { return }
    isInWindow = true
    let (begin, modes) = (window.from == nil ? now : bounds.start, controller.modes)
    summary.timeline?.begin(at: begin, shift: modes.shift, keyboard: modes.keyboard)
  }

  /// Ends the recording: a tap that could still bounce counts.
  private mutating func end(_ changes: inout [Change]) {
    if let time {
      changes += controller.end(at: time)
      collect(&changes, from: 0)
    }
    finish()
  }

  private mutating func finish() {
    isEnded = true
    if let time { summary.timeline?.end(at: time) }
  }
}
