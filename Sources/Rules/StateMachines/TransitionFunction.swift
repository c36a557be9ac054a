/// Rules that are a closure: the transition function itself.
///
///     let turnstile = TransitionFunction(initial: Gate.locked) { (gate, event: GateEvent) in
///       switch (gate, event) {
///       case (.locked, .coin): .unlocked
///       case (.unlocked, .push): .locked
///       case (.locked, .push), (.unlocked, .coin): nil
///       }
///     }
///
/// Where states and events are `CaseIterable`, the rules can be drawn and checked. To draw states
/// or events with payloads, write a type that conforms to ``DrawableRules``.
public struct TransitionFunction<State: Sendable, Event: Sendable>: Rules {
  /// The state that a new machine is in.
  public let initial: State

  /// The states in which the machine comes to its end.
  public let finalStates: [State]

  /// The states in which the machine accepts what it was sent.
  public let acceptingStates: [State]

  @usableFromInline let function: @Sendable (State, Event) -> State?
  private let isReentry: @Sendable (State, Event) -> Bool

  /// Rules with these states, and with `next` as their transition function. For the same
  /// arguments, `next` must always return the same state.
  ///
  /// - Parameter reenters: whether an event that leads back to the same state leaves it and enters
  ///   it again; by default none does.
  public init(
    initial: State, finalStates: [State] = [], acceptingStates: [State] = [],
    reenters: @escaping @Sendable (State, Event) -> Bool = { _, _ in false },
    next: @escaping @Sendable (State, Event) -> State?
  ) {
    (self.initial, self.finalStates) = (initial, finalStates)
    self.acceptingStates = acceptingStates
    (function, isReentry) = (next, reenters)
  }

  /// What the closure `next` returns.
  @inlinable
  public func next(_ state: State, on event: Event) -> State? { function(state, event) }

  /// What the closure `reenters` returns.
  public func reenters(_ state: State, on event: Event) -> Bool { isReentry(state, event) }
}

extension TransitionFunction: DrawableRules where State: CaseIterable, Event: CaseIterable {}

extension StateMachine {
  /// A machine whose transition function is `next`; see ``TransitionFunction``.
  public init<State, Event>(
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
