/// A state and the rules that change it.
///
/// A plain value: it holds no closure and no reference, and only events can change the state.
///
///     var machine = StateMachine(Turnstile())
///     machine.accepts(.push)  // false, and still locked
///     machine.take(.coin)     // from locked to unlocked
///     machine.take(.coin)     // nil: ignored, and still unlocked
public struct StateMachine<R: Rules>: RunningMachine, Sendable {
  /// One step: the state before and the state after.
  public struct Transition: Sendable {
    /// The state that was left.
    public let from: R.State
    /// The state that was entered.
    public let to: R.State

    /// The step between these states.
    @inlinable public init(from: R.State, to: R.State) { (self.from, self.to) = (from, to) }
  }

  /// The rules in force.
  public let rules: R

  // Inlinable code may use this property, but not a setter that is private.
  @usableFromInline var current: R.State

  /// The state that the machine is in.
  @inlinable public var state: R.State { current }

  /// A machine in the initial state of `rules`.
  @inlinable
  public init(_ rules: R) {
    self.rules = rules
    current = rules.initial
  }

  /// A machine that starts in `state`, to continue from where another machine stopped.
  @inlinable
  public init(_ rules: R, in state: R.State) {
    self.rules = rules
    current = state
  }

  /// Takes one event, and returns the transition; `nil` if it was ignored and nothing changed.
  @discardableResult @inlinable
  public mutating func take(_ event: R.Event) -> Transition? {
    guard let next = rules.next(current, on: event) else { return nil }
    let transition = Transition(from: current, to: next)
    current = next
    return transition
  }
}

extension StateMachine.Transition: Equatable where R.State: Equatable {}
