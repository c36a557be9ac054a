/// Something that is in one state of its rules, such as a ``StateMachine``: what it can be asked. None
/// of the answers changes anything.
public protocol RunningMachine<R> {
  /// The type of the rules.
  associatedtype R: Rules

  /// The rules in force.
  var rules: R { get }

  /// The state that the machine is in.
  var state: R.State { get }
}

extension RunningMachine {
  /// Whether `event` would change something now.
  @inlinable
  public func accepts(_ event: R.Event) -> Bool { rules.next(state, on: event) != nil }

  /// The name of the present state, without its payload.
  public var stateName: String { rules.name(of: state) }

  /// Whether the machine has come to its end.
  public var isFinal: Bool { rules.isFinal(state) }
}

extension RunningMachine where R: DrawableRules {
  /// The arrows of the ``Diagram`` that leave the present state, judged by its name.
  public var nextArrows: [Diagram.Arrow] { rules.arrows(from: state) }

  /// The names of the states to which an event can lead from the present state, judged by its name:
  /// the targets of ``nextArrows``.
  public var nextStates: [String] { rules.nextStates(from: state) }

  /// Whether an event can lead from the present state to `state`, both judged by their names.
  public func canEnter(_ state: R.State) -> Bool { rules.canEnter(state, from: self.state) }
}
