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
/// Where states and events are `CaseIterable`, it can be drawn and checked. Where they have
/// payloads, that takes rules of a type of their own; see ``DrawableRules``.
public struct TransitionFunction<State: Sendable, Event: Sendable>: Rules {
  /// The state that a new machine is in.
  public let initial: State

  /// The states in which the machine comes to its end.
  public let finalStates: [State]

  private let function: @Sendable (State, Event) -> State?

  /// Rules with this initial state, these final states, and with `next` as their transition
  /// function, which must always return the same for the same arguments.
  public init(
    initial: State, finalStates: [State] = [], next: @escaping @Sendable (State, Event) -> State?
  ) {
    self.initial = initial
    self.finalStates = finalStates
    function = next
  }

  /// What the closure returns.
  public func next(_ state: State, on event: Event) -> State? { function(state, event) }

  /// Whether a state with the name of `state` is among ``finalStates``.
  public func isFinal(_ state: State) -> Bool { finalStates.map(name).contains(name(of: state)) }
}

extension TransitionFunction: DrawableRules where State: CaseIterable, Event: CaseIterable {}

extension StateMachine {
  /// A machine whose transition function is `next`; see ``TransitionFunction``.
  public init<State, Event>(
    initial: State, finalStates: [State] = [], next: @escaping @Sendable (State, Event) -> State?
  ) where R == TransitionFunction<State, Event> {
    self.init(TransitionFunction(initial: initial, finalStates: finalStates, next: next))
  }
}
