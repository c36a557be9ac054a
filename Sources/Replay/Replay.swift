public import KeyboardModes
public import Recordings

/// One replay: passes what a recording holds to a controller, and yields the changes in a window.
///
///     var replay = Replay(settings: settings)
///     var changes: [Change] = []
///     while try replay.next(from: &recording, into: &changes) { show(changes) }
///
///     recording   --P--R-----P----R------P-|   P, R: key events, each at its recorded time
///     window          |from        until|      the states at `from` come from the events before it
///
/// Time passes only from event to event: a deadline acts before the next event, one after the last
/// event never does. At `until`, deadlines of that time still act.
public struct Replay: Sendable {
  private let settings: Settings
  private var controller: Controller
  private let window: (from: Time?, until: Time?)
  private let isDrawing: Bool
  /// The window in recorded times, known after the first event.
  private var bounds = (start: Time(microseconds: .min), end: Time?.none)
  private var isInWindow = false
  private var isEnded = false

  /// The picture of the window, if it was asked for. There is none before the window begins.
  public private(set) var timeline: Timeline?
  /// The clock for showing this recording's times, known after the first event.
  public private(set) var clock = DisplayClock()
  /// The recorded time that the replay has reached; `nil` before the first event.
  public private(set) var time: Time?

  /// The present states.
  public var modes: Modes { controller.modes }

  /// A replay that has not begun.
  ///
  /// - Parameters:
  ///   - from: when the window begins, as ``clock`` shows times; `nil` is the start of
  ///     the recording.
  ///   - until: when the window ends, which is not before `from`; `nil` is the end of
  ///     the recording.
  public init(
    settings: Settings, from: Time? = nil, until: Time? = nil, drawing isDrawing: Bool = false
  ) {
    self.settings = settings
    self.isDrawing = isDrawing
    controller = Controller(settings: settings)
    window = (from, until)
  }

  /// Replays some more of `recording`.
  ///
  /// - Parameter changes: is replaced by the changes in the window that this caused.
  /// - Returns: whether this was some of it; `false` if the replay has ended already.
  /// - Throws: `RecordingError` for what cannot be read. The changes before it have been yielded.
  public mutating func next(
    from recording: inout Recording, into changes: inout [Change]
  ) throws(RecordingError) -> Bool {
    // The controller can reuse the memory of its changes once no other array shares it.
    changes = []
    guard !isEnded else { return false }
    switch try recording.next() {
    case .keys(let device, let events): take(events, on: device, &changes)
    case .input(let next):
      if reach(next.time, &changes) { take(next.input, &changes) }
    case nil: end(&changes)
    }
    return true
  }

  private mutating func take(
    _ events: [KeyEvent], on device: DeviceID, _ changes: inout [Change]
  ) {
    guard isInWindow, bounds.end == nil, !isDrawing, let last = events.last else {
      for event in events where reach(event.time, &changes) {
        take(.key(device, event), &changes)
      }
      return
    }
    // Only the changes matter, so the controller can take all events at once.
    time = last.time
    changes = controller.take(events, on: device)
    collect(&changes, from: 0)
  }

  private mutating func take(_ input: Controller.Input, _ changes: inout [Change]) {
    draw(input)
    let first = changes.count
    changes += controller.take(input)
    collect(&changes, from: first)
  }

  /// Draws the press of a key, unless it is a bounce. The controller has not taken it yet.
  private mutating func draw(_ input: Controller.Input) {
    guard timeline != nil, case .key(let device, let event) = input, event.action == .press,
      event.time >= bounds.start,
      let (meaning, _) = controller.meaning(ofPress: event.key, on: device, at: event.time)
    else { return }
    timeline?.add(Timeline.Press(meaning), at: event.time)
  }

  /// Collects the changes from index `first` on, and removes those before the window. A change can
  /// be earlier than the one before it: a tap has the time of its press.
  private mutating func collect(_ changes: inout [Change], from first: Int) {
    guard first < changes.count else { return }
    for change in changes[first...] where change.time >= bounds.start { timeline?.add(change) }
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
      if let from = window.from { bounds.start = clock.recorded(from) }
      bounds.end = window.until.map(clock.recorded)
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
    if isDrawing { draw(from: window.from == nil ? now : bounds.start) }
  }

  private mutating func draw(from start: Time) {
    timeline = Timeline(from: start, in: modes, on: clock, keyboard: settings.keyboard)
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
    let time = time ?? Time(microseconds: 0)
    if isDrawing, timeline == nil { draw(from: time) }
    timeline?.end(at: time)
  }
}
