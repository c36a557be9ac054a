/// A state, and the rules by which alone it changes.
///
/// A plain value: it holds no closure and no reference, and it cannot be set from outside.
///
///     var machine = StateMachine(Turnstile())
///     machine.accepts(.push)  // false, and still locked
///     machine.take(.coin)     // from locked to unlocked
///     machine.take(.coin)     // nil: ignored, and still unlocked
public struct StateMachine<R: Rules>: Sendable {
  /// One step: the state before and the state after.
  public struct Transition: Sendable, Equatable {
    /// The state that was left.
    public let from: R.State
    /// The state that was entered.
    public let to: R.State

    /// The step between these states.
    @inlinable
    public init(from: R.State, to: R.State) {
      self.from = from
      self.to = to
    }
  }

  /// The rules in force.
  public let rules: R

  // Inlinable code may use this one but not a setter that others cannot.
  @usableFromInline var current: R.State

  /// The state that the machine is in.
  @inlinable public var state: R.State { current }

  /// A machine in the initial state of `rules`.
  @inlinable
  public init(_ rules: R) {
    self.rules = rules
    current = rules.initial
  }

  /// A machine that goes on from a state that one with such rules was in.
  @inlinable
  public init(_ rules: R, in state: R.State) {
    self.rules = rules
    current = state
  }

  /// Whether `event` would change something now. Nothing changes by asking.
  @inlinable
  public func accepts(_ event: R.Event) -> Bool { rules.next(state, on: event) != nil }

  /// Takes one event.
  ///
  /// - Returns: the transition, or `nil` where the event was ignored and nothing changed.
  @discardableResult @inlinable
  public mutating func take(_ event: R.Event) -> Transition? {
    guard let next = rules.next(current, on: event) else { return nil }
    let transition = Transition(from: current, to: next)
    current = next
    return transition
  }
}

extension StateMachine where R: DrawableRules {
  /// The names of the states that some event leads to from the state that the machine is in, by name:
  /// where the arrows of the ``Diagram`` go.
  public var nextStates: [String] { rules.nextStates(from: state) }
}
