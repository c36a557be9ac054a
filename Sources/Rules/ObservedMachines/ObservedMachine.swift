public import StateMachines

/// A state machine with callbacks, for driving a screen, a device or another machine.
///
/// It is not `Sendable`: an actor, or the main actor, owns it, and every callback runs in the
/// isolation of the caller of ``send(_:action:result:)``. To watch the machine from elsewhere, hand
/// out ``states`` or ``changes(keepingNewest:)``.
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
/// The callbacks of one number are called in the order of their registration. ``states`` reports 4,
/// and ``changes(keepingNewest:)`` reports 1 and 6, after their callbacks. An event that changes
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
  public struct Step {
    /// The state before the step.
    public let from: R.State
    /// The state after the step.
    public let to: R.State
    /// The event that caused the step; `nil` only in the step of
    /// ``ObservedMachine/start()``, where `from` and `to` are both the first state.
    public let event: R.Event?

    /// A step from one state to another, caused by `event`.
    @inlinable
    public init(from: R.State, to: R.State, event: R.Event?) {
      (self.from, self.to, self.event) = (from, to, event)
    }
  }

  /// What an event did.
  public enum Outcome {
    /// The event caused this step.
    case changed(Step)
    /// The state ignored the event.
    case ignored
    /// The event was refused, because the machine is in a final state.
    case ended
    /// A callback sent the event, so the machine handles it after the present step. The sender's
    /// `result` then receives what the event did.
    case queued
  }

  /// The rules that decide the next state. They never change.
  public let rules: R

  /// The state that the machine is in.
  @inlinable public var state: R.State { current }

  @usableFromInline enum Mode {
    /// Neither an event nor ``start()`` has come.
    case new
    case idle
    /// A step is under way.
    case busy
    /// The machine is in a final state.
    case ended
  }

  // One actor owns the machine, and no callback runs while one of these is being changed. So the
  // checks of exclusive access, which take longer than a step, would find nothing.
  @exclusivity(unchecked) @usableFromInline var current: R.State
  @exclusivity(unchecked) @usableFromInline var mode = Mode.new
  @exclusivity(unchecked) @usableFromInline var hooks = Hooks<R>()
  @exclusivity(unchecked) @usableFromInline var sequences: [OpenSequence<R>] = []
  /// Whether there has been a callback or a sequence.
  @exclusivity(unchecked) @usableFromInline var isWatched = false
  /// The number of the present state's name, if it is known.
  @exclusivity(unchecked) @usableFromInline var stateNumber: NameNumber?
  @exclusivity(unchecked) @usableFromInline var stateNames = NameNumbers<R.State>()
  @exclusivity(unchecked) @usableFromInline var eventNames = NameNumbers<R.Event>()
  /// The events that callbacks sent during the present step.
  @exclusivity(unchecked) @usableFromInline var queue: [() -> Void] = []

  /// A machine in the initial state of `rules`, without callbacks.
  public convenience init(_ rules: R) { self.init(rules, in: rules.initial) }

  /// A machine in `state`, without callbacks, to continue from where another machine stopped.
  public init(_ rules: R, in state: R.State) { (self.rules, current) = (rules, state) }

  deinit { finishSequences() }

  /// Tells the callbacks that the present state is entered. Call it once, before the first event;
  /// otherwise no callback learns of the first state. A machine that has begun ignores the call.
  public func start() {
    guard mode == .new else { return }
    mode = .busy
    enter(NamedStep(Step(from: state, to: state, event: nil), of: self), hooks.entries)
    handleQueuedEvents()
  }

  /// Sends an event.
  ///
  /// - Parameters:
  ///   - action: is called with the step, if there is one, before the state is assigned.
  ///   - result: is called last, with what the event did.
  /// - Returns: what the event did; ``Outcome/queued`` if a callback of this machine sent it.
  @discardableResult @inlinable
  public func send(
    _ event: R.Event, action: ((Step) -> Void)? = nil, result: ((Outcome) -> Void)? = nil
  ) -> Outcome {
    switch mode {
    case .busy:
      queue.append { [unowned self] in
        let outcome = handle(event, action)
        result?(outcome)
      }
      return .queued
    case .new where rules.isFinal(state): end()
    case .new, .idle: mode = .busy
    case .ended: break
    }
    let outcome = handle(event, action)
    result?(outcome)
    handleQueuedEvents()
    return outcome
  }

  /// Handles the events that were sent during a step.
  @inlinable func handleQueuedEvents() {
    while !queue.isEmpty { queue.removeFirst()() }
    if mode == .busy { mode = .idle }
  }

  @inlinable func handle(_ event: R.Event, _ action: ((Step) -> Void)?) -> Outcome {
    guard mode != .ended else { return .ended }
    guard let next = rules.next(current, on: event) else { return .ignored }
    let step = Step(from: current, to: next, event: event)
    if isWatched {
      performWatched(step, action)
    } else {
      action?(step)
      current = next
      if rules.isFinal(next) { end() }
    }
    return .changed(step)
  }

  @inlinable func performWatched(_ step: Step, _ action: ((Step) -> Void)?) {
    // A copy, because a callback that is added during the step would see only half of the step.
    let hooks = hooks
    let named = NamedStep(step, of: self)
    if !hooks.exits.isEmpty { named.call(hooks.exits) }
    if named.isMove { notify(.leaving, step) }
    if !hooks.befores.isEmpty { named.call(hooks.befores) }
    action?(step)
    current = step.to
    notify(nil, step)
    if !hooks.afters.isEmpty { named.call(hooks.afters) }
    enter(named, hooks.entries)
  }

  @inlinable func enter(_ named: NamedStep<R>, _ entries: [Hook<R>]) {
    if !entries.isEmpty { named.call(entries) }
    if named.isMove { notify(.entering, named.step) }
    if rules.isFinal(current) { end() }
  }

  /// Ends the machine and its sequences, because the state is final.
  @usableFromInline func end() {
    mode = .ended
    finishSequences()
  }

  /// Adds a callback to a list, and forgets callbacks whose registration has ended.
  @discardableResult
  func add(_ hook: Hook<R>, to list: WritableKeyPath<Hooks<R>, [Hook<R>]>) -> Registration {
    hooks[keyPath: list].removeAll { $0.action == nil }
    hooks[keyPath: list].append(hook)
    if hook.event != nil { hooks.needsEventNames = true }
    isWatched = true
    return hook
  }
}

extension ObservedMachine.Step: Sendable where R.State: Sendable, R.Event: Sendable {}
extension ObservedMachine.Step: Equatable where R.State: Equatable, R.Event: Equatable {}
extension ObservedMachine.Outcome: Sendable where R.State: Sendable, R.Event: Sendable {}
extension ObservedMachine.Outcome: Equatable where R.State: Equatable, R.Event: Equatable {}

extension ObservedMachine {
  /// A machine whose transition function is `next`; see `TransitionFunction`.
  public convenience init<State, Event>(
    initial: State, finalStates: [State] = [], acceptingStates: [State] = [],
    reenters: @escaping @Sendable (State, Event) -> Bool = { _, _ in false },
    next: @escaping @Sendable (State, Event) -> State?
  ) where R == TransitionFunction<State, Event> {
    self.init(
      TransitionFunction(
        initial: initial, finalStates: finalStates, acceptingStates: acceptingStates,
        reenters: reenters, next: next))
  }
}
