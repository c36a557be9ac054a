public import StateMachines

/// The Shift machine of a phone's keyboard.
///
/// |               | shiftPressed(t)                                 | characterTyped | timedOut | shiftUsed(s) |
/// | ------------- | ----------------------------------------------- | -------------- | -------- | ------------ |
/// | off           | on(since: t)                                    | ignored        | ignored  | s            |
/// | on(since: t0) | capsLock where \|t − t0\| < threshold, else off | off            | off      | s            |
/// | capsLock      | off                                             | ignored        | ignored  | s            |
///
/// `shiftUsed` takes presses back: s is the state before them. The state s ignores the event. `on`
/// remembers when Shift was pressed, because the next press means capsLock only soon after that.
/// Because of the absolute value, two keyboards whose timestamps are slightly out of order give the
/// same result as one keyboard.
public struct ShiftRules: DrawableRules, Hashable {
  /// How Shift affects the next character.
  public enum State: Hashable, Sendable {
    /// Not shifted.
    case off
    /// Shifted, once. `since` is when Shift was pressed; `nil` if that time is unknown.
    case on(since: Time?)
    /// Shifted, until Shift is pressed again.
    case capsLock

    /// The name that programs receive.
    public var name: String {
      switch self {
      case .off: "off"
      case .on: "on"
      case .capsLock: "capsLock"
      }
    }
  }

  /// An event of the Shift machine.
  public enum Event: Hashable, Sendable {
    /// Shift was pressed at this time; `nil` if the press was found after events were lost.
    case shiftPressed(at: Time?)
    /// A key that uses up Shift was pressed, or repeated: see ``Settings/KeysUsingShift``.
    case characterTyped
    /// `on` has lasted for the timeout, and no key has used it up. The ``Controller`` sends this.
    case timedOut
    /// The Shift key that is down turned out to be part of a shortcut, so its press is taken back:
    /// the machine returns to this state from before the press. The ``Controller`` sends this.
    case shiftUsed(returningTo: State)

    /// The name that programs receive.
    public var name: String {
      switch self {
      case .shiftPressed: "shiftPressed"
      case .characterTyped: "characterTyped"
      case .timedOut: "timedOut"
      case .shiftUsed: "shiftUsed"
      }
    }
  }

  /// Two presses less than this apart give capsLock; exactly this far apart they give off. Whole
  /// microseconds, at least one.
  public let threshold: Duration

  /// How long after its press an unused `on` ends; `nil` for never. Whole microseconds, at least
  /// one.
  public let timeout: Duration?

  /// Rules with this threshold and timeout, both rounded up to a whole microsecond. Since times are
  /// whole microseconds, this does not change any result.
  ///
  /// - Precondition: both are above zero; otherwise capsLock, or `on`, would be impossible.
  public init(threshold: Duration = .milliseconds(500), timeout: Duration? = nil) {
    precondition(threshold > .zero, "a threshold of zero or less is never met")
    self.threshold = threshold.roundedUpToMicroseconds
    self.timeout = timeout.map { timeout in
      precondition(timeout > .zero, "a timeout of zero or less leaves no time for Shift")
      return timeout.roundedUpToMicroseconds
    }
  }

  /// `off`.
  public var initial: State { .off }

  /// The table above.
  public func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.off, .shiftPressed(let time)): .on(since: time)
    case (.off, .characterTyped): nil  // there is no Shift to use up
    case (.on(let since), .shiftPressed(let time)):
      isDoublePress(since, time) ? .capsLock : .off
    case (.on, .characterTyped): .off
    case (.off, .timedOut): nil  // there is no Shift to end
    case (.on, .timedOut): .off
    case (.capsLock, .timedOut): nil  // capsLock is meant to last
    case (.capsLock, .shiftPressed): .off
    case (.capsLock, .characterTyped): nil  // capsLock holds for every character
    case (_, .shiftUsed(let back)): back == state ? nil : back
    }
  }

  /// A press with an unknown time is never part of a double press: a wrong guess would turn on
  /// capsLock unasked.
  private func isDoublePress(_ first: Time?, _ second: Time?) -> Bool {
    guard let first, let second else { return false }
    return second.isWithin(threshold, of: first)
  }
}

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
    let returns = states.map { Sample(Event.shiftUsed(returningTo: $0), where: "was \($0.name)") }
    return samples + (timeout == nil ? [] : [Sample(.timedOut)]) + returns
  }
}
