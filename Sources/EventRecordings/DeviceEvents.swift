internal import KeyboardModes

/// Makes inputs of the controller out of what a recording says of one device.
struct DeviceEvents {
  /// What came of an event.
  enum Outcome {
    case key(KeyEvent)
    case found([KeyDifference], at: Time)
  }

  /// After `SYN_DROPPED` the kernel's events make no sense until the next report begins.
  private var isSkipping = false

  /// What the report has said so far, where it holds differences, and when it began.
  private var differences: [KeyDifference]?
  private var differencesTime = Time(microseconds: 0)

  /// The next report holds differences.
  mutating func expectDifferences() { differences = [] }

  /// Whether the recording ends within a report that has to be whole.
  var isUnfinished: Bool { differences != nil }

  /// Whether key events are just that.
  var isPlain: Bool { !isSkipping && differences == nil }

  /// - Returns: what `event` means, if it means anything yet.
  mutating func take(_ event: InputEvent) throws(LineFault) -> Outcome? {
    switch (event.type, event.code) {
    case (InputEvent.synchronization, InputEvent.dropped):
      isSkipping = true
      return nil
    case (InputEvent.synchronization, InputEvent.report):
      return endReport(at: event.time)
    case (InputEvent.key, _):
      let key = try KeyEvent(event)
      guard !isSkipping else { return nil }
      guard differences != nil else { return .key(key) }
      try add(key)
      return nil
    default: return nil
    }
  }

  /// Ends the report.
  ///
  /// - Parameter time: when; a report without any difference has no other time.
  mutating func endReport(at time: Time) -> Outcome? {
    isSkipping = false
    guard let found = differences else { return nil }
    differences = nil
    return .found(found, at: found.isEmpty ? time : differencesTime)
  }

  /// Ends the report, where that is known although no event says so.
  mutating func endReport() -> Outcome? {
    guard differences?.isEmpty == false else {
      isSkipping = false
      return nil
    }
    return endReport(at: differencesTime)
  }

  private mutating func add(_ key: KeyEvent) throws(LineFault) {
    let count = differences?.count ?? 0
    guard count <= KeyCode.max else { throw LineFault("more differences than there are keys") }
    if count == 0 { differencesTime = key.time }
    differences?.append(KeyDifference(key: key.key, isDown: key.action != .release))
  }
}

extension KeyEvent {
  /// The event of a key that `event`, of type `EV_KEY`, is.
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
