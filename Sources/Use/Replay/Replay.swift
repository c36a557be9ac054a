public import KeyboardModes
public import Recordings

/// One replay: gives a recording's inputs to a controller, and returns the changes in a window.
///
///     var replay = Replay(settings: settings)
///     while let changes = try replay.next(from: &recording) { show(changes) }
///
///     recording   --P--R-----P----R------P-|   P, R: key events, each at its recorded time
///     window          |from        until|      the states at `from` come from the events before it
///
/// Time passes only from event to event: a deadline takes effect before the next event, and never
/// after the last event. Deadlines at `until` still take effect.
public struct Replay: Sendable {
  /// The settings that decide the states.
  public let settings: Settings
  private var controller: Controller
  private let window: (from: Time?, until: Time?)
  private let isDrawing: Bool
  /// The window in recorded times, known after the first event.
  private var bounds = (start: Time(microseconds: .min), end: Time?.none)
  private var isInWindow = false
  private var isEnded = false
  /// The changes in the window that ``next(from:)`` has not returned yet.
  private var changes: [Change] = []

  /// The changes and presses of the window, for a picture; `nil` before the window begins, and if
  /// no picture is drawn.
  public private(set) var timeline: Timeline?
  /// The states at the beginning of the window, and its time; `nil` before the window begins.
  public private(set) var start: (states: States, time: Time)?
  /// The clock for showing this recording's times, known after the first event.
  public private(set) var clock = DisplayClock()
  /// The recorded time that the replay has reached; `nil` before the first event.
  public private(set) var time: Time?

  /// The present states.
  public var states: States { controller.states }

  /// A replay that has not begun.
  ///
  /// - Parameters:
  ///   - from: when the window begins, as ``clock`` shows times; `nil` is the start of
  ///     the recording.
  ///   - until: when the window ends, as ``clock`` shows times; not before `from`; `nil` is the end
  ///     of the recording.
  public init(
    settings: Settings, from: Time? = nil, until: Time? = nil, drawing isDrawing: Bool = false
  ) {
    self.settings = settings
    self.isDrawing = isDrawing
    controller = Controller(settings: settings)
    window = (from, until)
  }

  /// Replays the next part of `recording`.
  ///
  /// - Returns: the changes in the window that this part causes; `nil` if the replay has ended.
  /// - Throws: `RecordingError` if this part cannot be read. Earlier changes have been returned.
  public mutating func next(
    from recording: inout Recording
  ) throws(RecordingError) -> [Change]? {
    guard !isEnded else { return nil }
    // The controller can reuse the memory of its changes once no other array shares it.
    defer { changes = [] }
    switch try recording.next() {
    case .keys(let device, let events): handle(events, on: device)
    case .input(let input):
      if reach(input.time) { handle(input) }
    case nil:
      // No bounce can follow, so the taps and releases that waited for a bounce count.
      if let time { collect(controller.end(at: time)) }
      end()
    }
    return changes
  }

  private mutating func handle(_ events: [KeyEvent], on device: DeviceID) {
    guard isInWindow, bounds.end == nil, !isDrawing, let last = events.last else {
      for event in events where reach(event.time) { handle(.key(device, event)) }
      return
    }
    // Only the changes matter, so the controller can handle all events at once.
    time = last.time
    collect(controller.handle(events, on: device))
  }

  private mutating func handle(_ input: Controller.Input) {
    addPress(of: input)
    collect(controller.handle(input))
  }

  /// Adds a press that counts to the timeline: no bounce, and not the same press of a second node.
  /// Its meaning depends on the keys before it, so call this before the controller handles it.
  private mutating func addPress(of input: Controller.Input) {
    guard timeline != nil, case .key(let device, let event) = input, event.action == .press,
      event.time >= bounds.start,
      let (meaning, _) = controller.meaning(
        ofPress: event.key, on: device, at: event.time, inFrame: event.continuesFrame)
    else { return }
    timeline?.add(Timeline.PressClass(meaning), at: event.time)
  }

  /// Collects the changes that are not before the window. A change may be earlier than the previous
  /// change: a tap has the time of its press.
  private mutating func collect(_ newChanges: [Change]) {
    let inWindow = window.from == nil ? newChanges : newChanges.filter { $0.time >= bounds.start }
    changes += inWindow
    for change in inWindow { timeline?.add(change) }
  }

  // MARK: Time

  /// Advances to `now`, the time of the next input; `nil` if the input has none.
  ///
  /// - Returns: `false` if the input is after the window; then the replay ends at `until`.
  private mutating func reach(_ now: Time?) -> Bool {
    guard !isEnded else { return false }
    guard let now else { return true }
    if time == nil {
      clock = DisplayClock(startingWith: now)
      if let from = window.from { bounds.start = clock.recorded(from) }
      bounds.end = window.until.map(clock.recorded)
    }
    if let end = bounds.end, now > end {
      advance(to: end)
      self.end()
      return false
    }
    advance(to: now)
    time = now
    if now >= bounds.start { enterWindow(at: now) }
    return true
  }

  /// Lets deadlines until `now` take effect, each at its own time.
  private mutating func advance(to now: Time) {
    while let due = controller.deadline, due <= now {
      if due >= bounds.start { enterWindow(at: due) }
      collect(controller.advance(to: due))
      time = max(time ?? due, due)
    }
  }

  private mutating func enterWindow(at now: Time) {
    guard !isInWindow else { return }
    isInWindow = true
    let start = window.from == nil ? now : bounds.start
    self.start = (states, start)
    if isDrawing { beginTimeline(at: start) }
  }

  private mutating func beginTimeline(at start: Time) {
    timeline = Timeline(from: start, in: states, on: clock, settings)
  }

  private mutating func end() {
    isEnded = true
    let time = time ?? Time(microseconds: 0)
    if isDrawing, timeline == nil { beginTimeline(at: time) }
    timeline?.end(at: time)
  }
}
