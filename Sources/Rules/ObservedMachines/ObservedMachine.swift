public import StateMachines

/// A state machine with callbacks, for driving a screen, a device or another machine.
///
/// It is not `Sendable`: an actor, or the main actor, owns it, and every callback is called in the
/// isolation in which ``send(_:action:result:)`` is called. To watch it from elsewhere, hand out
/// ``states`` or ``changes(keepingNewest:)``.
///
/// For each event that changes the state, in this order:
///
/// 1. the callbacks of `leaving`
/// 2. the callbacks of `before`
/// 3. the sender's own action
/// 4. the state is assigned
/// 5. the callbacks of `after`
/// 6. the callbacks of `entering`
/// 7. the sender's result
///
/// Within one number, callbacks are called in the order of their registration. ``states`` tells of
/// 4, and ``changes(keepingNewest:)`` tells of 1 and 6 after their callbacks. An event that changes
/// nothing calls only the sender's result. A step between two states of the same name changes a
/// payload, not the state: 1 and 6 do not happen, unless the rules say that the step re-enters.
///
/// A callback that the machine keeps must not retain the machine: capture the machine `weak` or
/// `unowned`.
///
/// An event sent by a callback is queued until the step is over, so that every callback sees one
/// step at a time. A callback added during a step sees the next one.
public final class ObservedMachine<R: Rules>: RunningMachine {
  /// One step of the machine, which every callback receives.
  public struct Step: Sendable {
    /// The state before the step.
    public let from: R.State
    /// The state after the step.
    public let to: R.State
    /// The event that caused the step; `nil` only where ``ObservedMachine/start()`` tells that the
    /// first state, which is `from` and `to`, is entered.
    public let event: R.Event?
  }

  /// What an event did.
  public enum Outcome: Sendable {
    /// It caused this step.
    case changed(Step)
    /// The state ignored it.
    case ignored
    /// It was refused, because the machine is in a final state.
    case ended
    /// It was sent by a callback, and will be handled after the present step. Its sender's result
    /// tells what it did then.
    case queued
  }

  /// The rules in force.
  public let rules: R

  /// The state that the machine is in.
  public private(set) var state: R.State

  enum Mode {
    /// Neither an event nor ``start()`` has come.
    case new
    case idle
    /// A step is under way.
    case busy
    /// The machine is in a final state.
    case ended
  }

  private(set) var mode = Mode.new
  private(set) var hooks = Hooks<R>()
  var readers = Readers<R>()
  var stateNames = KnownNames<R.State>()
  var eventNames = KnownNames<R.Event>()
  /// The events that callbacks sent during the present step.
  private var queue: [() -> Void] = []

  /// A machine in the initial state of `rules`, without callbacks.
  public convenience init(_ rules: R) { self.init(rules, in: rules.initial) }

  /// A machine in `state`, without callbacks, to continue from where another machine stopped.
  public init(_ rules: R, in state: R.State) { (self.rules, self.state) = (rules, state) }

  deinit { readers.finish() }

  /// Tells the callbacks that the present state is entered. Call it once, before the first event;
  /// without it, nothing tells of the first state. A machine that has begun ignores the call.
  public func start() {
    guard mode == .new else { return }
    mode = .busy
    enter(NamedStep(Step(from: state, to: state, event: nil), of: self), hooks.entries)
    settle()
  }

  /// Sends an event.
  ///
  /// - Parameters:
  ///   - action: is called with the step, if there is one, before the state is assigned.
  ///   - result: is called last, with what the event did.
  /// - Returns: what the event did; ``Outcome/queued`` if a callback of this machine sent it.
  @discardableResult
  public func send(
    _ event: R.Event, action: ((Step) -> Void)? = nil, result: ((Outcome) -> Void)? = nil
  ) -> Outcome {
    switch mode {
    case .busy:
      queue.append { [unowned self] in
        let outcome = take(event, action)
        result?(outcome)
      }
      return .queued
    case .new where rules.isFinal(state): end()
    case .new, .idle: mode = .busy
    case .ended: break
    }
    let outcome = take(event, action)
    result?(outcome)
    settle()
    return outcome
  }

  /// Handles the events that were sent during a step.
  private func settle() {
    while !queue.isEmpty { queue.removeFirst()() }
    if mode == .busy { mode = .idle }
  }

  private func take(_ event: R.Event, _ action: ((Step) -> Void)?) -> Outcome {
    guard mode != .ended else { return .ended }
    guard let next = rules.next(state, on: event) else { return .ignored }
    let step = Step(from: state, to: next, event: event)
    // A copy, because a callback that is added during the step would see only half of it.
    let hooks = hooks
    let named = NamedStep(step, of: self)
    named.call(hooks.exits, isLeft: true)
    if named.isMove { readers.tell(.leaving, step) }
    named.call(hooks.befores, isLeft: true)
    action?(step)
    state = next
    readers.tell(next)
    named.call(hooks.afters, isLeft: true)
    enter(named, hooks.entries)
    return .changed(step)
  }

  private func enter(_ named: NamedStep<R>, _ entries: [Hook<R>]) {
    named.call(entries, isLeft: false)
    if named.isMove { readers.tell(.entering, named.step) }
    if rules.isFinal(state) { end() }
  }

  /// Notes that the machine is in a final state.
  private func end() {
    mode = .ended
    readers.finish()
  }

  /// Adds a callback to a list, and forgets those whose registration has ended.
  func add(_ hook: Hook<R>, to list: WritableKeyPath<Hooks<R>, [Hook<R>]>) -> Registration {
    hooks[keyPath: list].removeAll { $0.action == nil }
    hooks[keyPath: list].append(hook)
    return hook
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
