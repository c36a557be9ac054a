public import StateMachines

extension ShiftRules {
  /// `off`, `on` since the clock's zero, and `capsLock`.
  public var states: [State] { [.off, .on(since: Time(microseconds: 0)), .capsLock] }

  /// A press just within the threshold after `on` began, a press at the threshold, a typed
  /// character, the end of the timeout if there is one, and a return to each state.
  public var samples: [Sample<Event>] {
    let microseconds = threshold.wholeMicroseconds
    let within = Event.shiftPressed(at: Time(microseconds: microseconds - 1))
    let later = Event.shiftPressed(at: Time(microseconds: microseconds))
    let samples = [
      Sample(within, where: "< \(threshold.text)"), Sample(later, where: "≥ \(threshold.text)"),
      Sample(.characterTyped),
    ]
    let returns = states.map { Sample(Event.shiftUsed(back: $0), where: "was \($0.name)") }
    return samples + (timeout == nil ? [] : [Sample(.timedOut)]) + returns
  }
}

extension Duration {
  /// The duration in the largest unit in which it is a whole number: `500 ms`.
  fileprivate var text: String {
    let microseconds = wholeMicroseconds
    if microseconds.isMultiple(of: 1_000_000) { return "\(microseconds / 1_000_000) s" }
    if microseconds.isMultiple(of: 1000) { return "\(microseconds / 1000) ms" }
    return "\(microseconds) µs"
  }
}
