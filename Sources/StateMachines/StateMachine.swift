/// A state, and the rules by which alone it changes.
///
/// A plain value: it holds no closure and no reference, and it cannot be set from outside.
public struct StateMachine<R: Rules>: Sendable {
  /// One step: the state before and the state after.
  public struct Transition: Sendable, Equatable {
    /// The state that was left.
    public let from: R.State
    /// The state that was entered.
    public let to: R.State

    /// The step between these states.
    public init(from: R.State, to: R.State) {
      self.from = from
      self.to = to
    }
  }

  /// The rules in force. New ones apply to the next event; the state stays.
  public var rules: R

  /// The state that the machine is in.
  public private(set) var state: R.State

  /// A machine in the initial state of `rules`.
  public init(_ rules: R) {
    self.rules = rules
    self.state = rules.initial
  }

  /// Takes one event.
  ///
  /// - Returns: the transition, or `nil` where the event was ignored and nothing changed.
  @inlinable
  public mutating func take(_ event: R.Event) -> Transition? {
    guard let next = rules.next(state, on: event) else { return nil }
    return enter(next)
  }

  /// The one place where the state is assigned.
  @usableFromInline
  mutating func enter(_ next: R.State) -> Transition {
    let transition = Transition(from: state, to: next)
    state = next
    return transition
  }
}
