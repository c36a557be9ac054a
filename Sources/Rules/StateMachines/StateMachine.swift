/// A state and the rules that change it.
///
/// A plain value: `rules` and the state are all that it holds, and only events change the state.
///
///     var machine = StateMachine(Turnstile())
///     machine.accepts(.push)    // false, and still locked
///     machine.send(.coin)       // from locked to unlocked
///     machine.send(.coin)       // nil: ignored, and still unlocked
public struct StateMachine<R: Rules>: RunningMachine {
  /// One step: the state before and the state after.
  public struct Transition {
    /// The state before the step.
    public let from: R.State
    /// The state after the step.
    public let to: R.State

    /// The step between these states.
    @inlinable public init(from: R.State, to: R.State) { (self.from, self.to) = (from, to) }
  }

  /// The rules that decide the next state. They never change.
  public let rules: R

  // Stored beside `state`: inlinable code cannot use the setter of a `private(set)` property.
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

  /// Sends one event, and returns the transition; `nil` if the state ignored the event.
  @discardableResult @inlinable
  public mutating func send(_ event: R.Event) -> Transition? {
    guard let next = rules.next(current, on: event) else { return nil }
    let transition = Transition(from: current, to: next)
    current = next
    return transition
  }
}

extension StateMachine: Sendable where R.State: Sendable {}
extension StateMachine.Transition: Sendable where R.State: Sendable {}
extension StateMachine.Transition: Equatable where R.State: Equatable {}

/// What a machine, such as a ``StateMachine``, can answer about its present state. No answer
/// changes anything.
public protocol RunningMachine<R> {
  /// The type of the rules.
  associatedtype R: Rules

  /// The rules that decide the next state. They never change.
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

  /// Whether the present state is final.
  public var isFinal: Bool { rules.isFinal(state) }

  /// Whether the machine accepts what it was sent so far.
  public var isAccepting: Bool { rules.acceptingStates.map(rules.name).contains(stateName) }
}

extension RunningMachine where R: DrawableRules {
  /// The names of the states that an event can enter from the present state, in the order of
  /// `stateNames`. An event that one payload of the present state allows counts for all payloads. A
  /// step that changes only a payload, and does not re-enter, enters no state.
  public var nextStates: [String] {
    let arrows = rules.arrows(fromStatesNamed: stateName)
    let entered = Set(arrows.filter { $0.from != $0.to || $0.reenters }.map(\.to))
    return rules.stateNames.filter(entered.contains)
  }

  /// Whether ``nextStates`` has the name of `state`.
  public func canEnter(_ state: R.State) -> Bool { canEnter(named: rules.name(of: state)) }

  /// Whether ``nextStates`` has this name.
  public func canEnter(named name: String) -> Bool { nextStates.contains(name) }
}
