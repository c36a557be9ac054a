import KeyboardModes

/// Turns the events of one device into inputs of the controller.
struct DeviceEvents {
  private let id: DeviceID

  /// Whether events are ignored: after `SYN_DROPPED`, until the next report begins.
  private var isSkipping = false

  /// The differences of the report so far, and its time; `nil` if the report is one of key events.
  private var differences: [KeyDifference]?
  private var differencesTime = Time(microseconds: 0)

  /// Whether the report is a release that a grab hid.
  private var isMissed = false

  init(_ id: DeviceID) { self.id = id }

  /// Takes the next report as differences that were found after a loss of events.
  mutating func expectDifferences() { differences = [] }

  /// Takes the releases of the next report as some that a grab hid.
  mutating func expectMissedRelease() { isMissed = true }

  /// Whether a report of differences has not ended yet.
  var isUnfinished: Bool { differences != nil }

  /// Whether each key event is an input by itself.
  var isPlain: Bool { !isSkipping && differences == nil && !isMissed }

  /// What `event` completes, if it completes anything.
  mutating func take(_ event: InputEvent) throws(LineFault) -> RecordedInput? {
    switch (event.type, event.code) {
    case (InputEvent.synchronization, InputEvent.dropped):
      isSkipping = true
      return nil
    case (InputEvent.synchronization, InputEvent.report):
      return endReport(at: event.time)
    case (InputEvent.key, _):
      let key = try KeyEvent(event)
      guard !isSkipping else { return nil }
      if isMissed, key.action == .release {
        let input = Controller.Input.missedRelease(id, key.key, at: key.time)
        return RecordedInput(time: key.time, input: input)
      }
      guard differences != nil else { return RecordedInput(id, key) }
      try add(key)
      return nil
    default: return nil
    }
  }

  /// Ends the report.
  ///
  /// - Parameter time: the time of its `SYN_REPORT`; `nil` if it has none. Then differences have to
  ///   come before the end.
  mutating func endReport(at time: Time? = nil) -> RecordedInput? {
    (isSkipping, isMissed) = (false, false)
    guard let found = differences, let time = found.isEmpty ? time : differencesTime
    else { return nil }
    differences = nil
    return RecordedInput(time: time, input: .synchronized(id, found, at: time))
  }

  private mutating func add(_ key: KeyEvent) throws(LineFault) {
    let count = differences?.count ?? 0
    guard count <= KeyCode.max else {
      throw LineFault("the report after a loss has more keys than exist")
    }
    if count == 0 { differencesTime = key.time }
    differences?.append(KeyDifference(key: key.key, isDown: key.action != .release))
  }
}

extension KeyEvent {
  /// The key event of `event`, whose type is `EV_KEY`.
  init(_ event: InputEvent) throws(LineFault) {
    guard let key = KeyCode(event.code) else {
      throw LineFault("key code \(event.code) is above \(KeyCode.max)")
    }
    guard let action = KeyEvent.Action(rawValue: event.value) else {
      throw LineFault("key value \(event.value) is not 0, 1 or 2")
    }
    self.init(time: event.time, key: key, action: action)
  }
}
