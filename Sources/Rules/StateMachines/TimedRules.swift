/// Rules whose states may have a timeout, which sends an event.
public protocol TimedRules<State, Event>: Rules {
  /// How long `state` may last, above zero, and the event that is then sent; `nil` if the state may
  /// last for ever.
  func timeout(of state: State) -> (after: Duration, event: Event)?
}

/// A state machine with timeouts. The caller passes the time, from a clock or from a test.
///
/// Times must not go back. A timeout's event has the timeout's own time, and comes before an event
/// that is sent at that time.
public struct TimedMachine<R: TimedRules, Instant: InstantProtocol>: RunningMachine
where Instant.Duration == Duration {
  private var machine: StateMachine<R>
  /// When the present state was entered; `nil` once its timeout has passed and entered no state.
  private var entered: Instant?

  /// A machine that enters its initial state, or `state`, at this time.
  public init(_ rules: R, in state: R.State? = nil, at time: Instant) {
    (machine, entered) = (StateMachine(rules, in: state ?? rules.initial), time)
  }

  /// The rules that decide the next state. They never change.
  public var rules: R { machine.rules }

  /// The state that the machine is in.
  public var state: R.State { machine.state }

  /// When the timeout of the present state is over; `nil` for never.
  public var deadline: Instant? {
    guard let entered, let timeout = rules.timeout(of: state) else { return nil }
    return entered.advanced(by: timeout.after)
  }

  /// Sends the events of the timeouts that are due by `time`, and then `event`, unless it is `nil`.
  ///
  /// - Returns: the transitions, each with its time.
  @discardableResult
  public mutating func send(
    _ event: R.Event? = nil, at time: Instant
  ) -> [(time: Instant, transition: StateMachine<R>.Transition)] {
    var steps: [(time: Instant, transition: StateMachine<R>.Transition)] = []
    while let deadline, deadline <= time, let due = rules.timeout(of: state) {
      precondition(due.after > .zero, "a state that lasts no time would be left for ever")
      entered = nil
      if let step = send(due.event, deadline) { steps.append((deadline, step)) }
    }
    if let event, let step = send(event, time) { steps.append((time, step)) }
    return steps
  }

  private mutating func send(_ event: R.Event, _ time: Instant) -> StateMachine<R>.Transition? {
    guard let step = machine.send(event) else { return nil }
    if rules.name(of: step.from) != rules.name(of: step.to) || rules.reenters(step.from, on: event)
    {
      entered = time
    }
    return step
  }
}

extension TimedMachine: Sendable where R.State: Sendable {}
