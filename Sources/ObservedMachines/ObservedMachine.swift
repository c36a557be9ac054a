public import StateMachines

/// A state machine with observers, for driving a screen, a device or another machine.
///
/// It is not `Sendable`: an actor, or the main actor, owns it, and every callback is called in the
/// isolation in which ``send(_:result:action:)`` is called. To watch it from elsewhere, hand out
/// ``states`` or ``changes(keepingNewest:)``.
///
/// For each event that changes the state, in this order:
///
/// 1. the observers' `willExit` and the actions of `leaving`
/// 2. the actions of ``before(_:)`` and ``before(_:on:_:)``
/// 3. the sender's own action
/// 4. the state is assigned
/// 5. the actions of ``after(_:)`` and ``after(_:on:_:)``
/// 6. the observers' `didEnter` and the actions of `entering`
/// 7. the sender's result
///
/// Within one number, callbacks are called in the order of their registration. A sequence tells of
/// 1, 4 and 6 after those callbacks. An ignored event calls only the sender's result. A step
/// between two states of the same name changes a payload, not the state: no state is left or
/// entered, so 1 and 6 do not happen.
///
/// A callback that the machine keeps must not retain the machine: capture the machine `weak` or
/// `unowned`.
///
/// An event sent by a callback is queued until the step is over, so that every callback sees one
/// step at a time. An observer added during a step sees the next one.
public final class ObservedMachine<R: Rules>: RunningMachine {
  /// One step of the machine.
  public struct Step: Sendable {
    /// The state that was left.
    public let from: R.State
    /// The state that was entered.
    public let to: R.State
    /// The event that caused the step.
    public let event: R.Event
  }

  /// What an event did.
  public enum Outcome: Sendable {
    /// It caused this step.
    case changed(Step)
    /// The state ignored it.
    case ignored
    /// It was sent by a callback, and will be handled after the present step. Its sender's result
    /// tells what it did then.
    case queued
  }

  /// The rules in force.
  public let rules: R

  /// The state that the machine is in.
  public private(set) var state: R.State

  var exits = Registrations<(Step) -> Void>()
  var befores = Registrations<(Step) -> Void>()
  var afters = Registrations<(Step) -> Void>()
  var entries = Registrations<(R.State, Step?) -> Void>()
  var stateReaders = Readers<R.State>()
  var changeReaders = Readers<Changes<R>.Numbered>()
  /// How many changes have been told.
  private(set) var changeCount = 0

  private var queue: [() -> Void] = []
  private var isBusy = false
  private var hasBegun = false

  /// A machine in the initial state of `rules`, without observers.
  public convenience init(_ rules: R) { self.init(rules, in: rules.initial) }

  /// A machine in `state`, without observers, to continue from where another machine stopped.
  public init(_ rules: R, in state: R.State) {
    self.rules = rules
    self.state = state
  }

  deinit { finish() }

  /// Tells the observers that the present state is entered. Call it once, before the first event;
  /// without it, nothing tells of the first state. A machine that has begun ignores the call.
  public func start() {
    guard !hasBegun else { return }
    perform { didEnter(state, after: nil, telling: (entries, changeReaders.count)) }
  }

  /// Sends an event.
  ///
  /// - Parameters:
  ///   - result: is called last, with the step, or `nil` if the state ignored the event.
  ///   - action: is called with the step, if there is one, before the state is assigned.
  /// - Returns: what the event did; ``Outcome/queued`` if a callback of this machine sent it.
  @discardableResult
  public func send(
    _ event: R.Event, result: @escaping (Step?) -> Void = { _ in },
    action: @escaping (Step) -> Void = { _ in }
  ) -> Outcome {
    guard !isBusy else {
      queue.append { [unowned self] in result(take(event, action)) }
      return .queued
    }
    var step: Step?
    perform {
      step = take(event, action)
      result(step)
    }
    return step.map(Outcome.changed) ?? .ignored
  }

  /// Does `work`, then handles the events that were sent meanwhile.
  private func perform(_ work: () -> Void) {
    (isBusy, hasBegun) = (true, true)
    defer { isBusy = false }
    work()
    while !queue.isEmpty { queue.removeFirst()() }
  }

  private func take(_ event: R.Event, _ action: (Step) -> Void) -> Step? {
    guard let next = rules.next(state, on: event) else { return nil }
    let step = Step(from: state, to: next, event: event)
    let isMove = rules.name(of: step.from) != rules.name(of: step.to)
    // Copies, because an observer added during the step would see only half of it.
    let (exits, befores, afters, entries) = (exits, befores, afters, entries)
    let readers = changeReaders.count
    if isMove {
      exits.forEach { $0(step) }
      tell(.willExit(step), readers)
    }
    befores.forEach { $0(step) }
    action(step)
    state = step.to
    stateReaders.tell(state)
    afters.forEach { $0(step) }
    if isMove { didEnter(step.to, after: step, telling: (entries, readers)) }
    return step
  }

  private func didEnter(
    _ state: R.State, after step: Step?,
    telling watchers: (entries: Registrations<(R.State, Step?) -> Void>, readers: Int)
  ) {
    watchers.entries.forEach { $0(state, step) }
    tell(.didEnter(state, after: step), watchers.readers)
    if rules.isFinal(state) { finish() }
  }

  /// Tells the first `readers` readers of a change.
  private func tell(_ change: Changes<R>.Element, _ readers: Int) {
    changeReaders.tell(.init(number: changeCount, change: change), first: readers)
    changeCount += 1
  }

  private func finish() {
    stateReaders.finish()
    changeReaders.finish()
  }
}

extension ObservedMachine {
  /// A machine whose transition function is `next`; see `TransitionFunction`.
  public convenience init<State, Event>(
    initial: State, finalStates: [State] = [], next: @escaping @Sendable (State, Event) -> State?
  ) where R == TransitionFunction<State, Event> {
    self.init(TransitionFunction(initial: initial, finalStates: finalStates, next: next))
  }
}
