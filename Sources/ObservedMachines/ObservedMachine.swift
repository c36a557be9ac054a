public import StateMachines

/// A state machine that others can watch.
///
/// It belongs to one isolation: it is not `Sendable`, and everything is called where ``send(_:)`` is.
/// To watch it from elsewhere, take a stream of ``changes(keepingNewest:)``.
///
/// For each event that changes the state, in this order:
///
/// 1. the observers' `willExit`, with the state that is left
/// 2. the `before` actions
/// 3. the sender's own action
/// 4. the state is assigned
/// 5. the `after` actions
/// 6. the observers' `didEnter`, with the state that is entered; then the streams
/// 7. the sender's result
///
/// Of an ignored event only the sender's result tells. A step between two states of one name changes
/// a payload, not the state: nothing is left or entered, and all but 1 and 6 happens.
///
/// An event that is sent in the middle of all that waits until it is over, behind those that wait
/// already, so that every callback sees one step at a time.
public final class ObservedMachine<R: Rules> {
  /// One step of the machine.
  public struct Step: Sendable {
    /// The state that was left.
    public let from: R.State
    /// The state that was entered.
    public let to: R.State
    /// The event that made the step.
    public let event: R.Event
  }

  /// What became of an event.
  public enum Outcome: Sendable {
    /// It made this step.
    case changed(Step)
    /// It is ignored in the state that it found.
    case ignored
  }

  private struct Waiting {
    let event: R.Event
    let action: (Step) -> Void
    let result: (Outcome) -> Void
  }

  private var machine: StateMachine<R>
  private var observers = Registrations<
    (willExit: (R.State) -> Void, didEnter: (R.State) -> Void)
  >()
  private var beforeActions = Registrations<(Step) -> Void>()
  private var afterActions = Registrations<(Step) -> Void>()
  private var streams: [AsyncStream<Step>.Continuation] = []
  private var waiting: [Waiting] = []
  private var isBusy = false

  /// A machine in the initial state of `rules`, which nobody watches.
  public init(_ rules: R) { machine = StateMachine(rules) }

  deinit {
    for stream in streams { stream.finish() }
  }

  /// The state that the machine is in.
  public var state: R.State { machine.state }

  /// Whether `event` would change something now. Nobody is told.
  public func accepts(_ event: R.Event) -> Bool { machine.accepts(event) }

  /// Sends an event.
  ///
  /// - Parameters:
  ///   - action: is called on the step, before the state is assigned.
  ///   - result: is called at the end with what became of the event.
  public func send(
    _ event: R.Event, action: @escaping (Step) -> Void = { _ in },
    result: @escaping (Outcome) -> Void = { _ in }
  ) {
    waiting.append(Waiting(event: event, action: action, result: result))
    guard !isBusy else { return }
    isBusy = true
    defer { isBusy = false }
    while !waiting.isEmpty { perform(waiting.removeFirst()) }
  }

  private func perform(_ sent: Waiting) {
    guard let next = machine.rules.next(machine.state, on: sent.event) else {
      return sent.result(.ignored)
    }
    let step = Step(from: machine.state, to: next, event: sent.event)
    let isMove = machine.rules.name(of: step.from) != machine.rules.name(of: step.to)
    if isMove { observers.forEach { $0.willExit(step.from) } }
    beforeActions.forEach { $0(step) }
    sent.action(step)
    machine.take(sent.event)
    afterActions.forEach { $0(step) }
    if isMove {
      observers.forEach { $0.didEnter(step.to) }
      tell(step)
    }
    sent.result(.changed(step))
  }
}

// MARK: - Watching

extension ObservedMachine {
  /// Watches states being left and entered, until the returned registration is ended.
  @discardableResult
  public func observe(
    willExit: @escaping (R.State) -> Void = { _ in },
    didEnter: @escaping (R.State) -> Void = { _ in }
  ) -> Registration {
    observers.add((willExit, didEnter))
  }

  /// Does something before each step, until the returned registration is ended.
  @discardableResult
  public func before(_ action: @escaping (Step) -> Void) -> Registration {
    beforeActions.add(action)
  }

  /// Does something after each step, until the returned registration is ended.
  @discardableResult
  public func after(_ action: @escaping (Step) -> Void) -> Registration {
    afterActions.add(action)
  }

  /// The steps from one state to another from now on, until the machine goes. There can be several
  /// streams at once, and each gets all steps.
  ///
  /// - Parameter count: how many steps are kept for a reader that is slow; of more, the oldest are
  ///   dropped. At least 1.
  public func changes(keepingNewest count: Int) -> AsyncStream<Step> {
    precondition(count > 0, "a stream that keeps nothing would tell nothing")
    let (stream, continuation) = AsyncStream.makeStream(
      of: Step.self, bufferingPolicy: .bufferingNewest(count))
    streams.append(continuation)
    return stream
  }

  private func tell(_ step: Step) {
    streams.removeAll { stream in
      if case .terminated = stream.yield(step) { return true }
      return false
    }
  }
}
