/// The rules of a deterministic finite automaton: its initial state and its transition function δ.
///
/// Rules are values. Whatever they depend on (a threshold, the rows of a table) is part of the
/// value, so equal rules are the same machine and a test can make any variant that it needs.
///
///     struct Turnstile: Rules {
///       enum State { case locked, unlocked }
///       enum Event { case coin, push }
///       var initial: State { .locked }
///       func next(_ state: State, on event: Event) -> State? {
///         switch (state, event) {
///         case (.locked, .coin): .unlocked
///         case (.unlocked, .push): .locked
///         case (.locked, .push), (.unlocked, .coin): nil
///         }
///       }
///     }
public protocol Rules<State, Event>: Sendable {
  /// The conditions that the machine can be in. A payload may be anything, even an `any Error`,
  /// because payloads are not compared: states of one name count as the same state. If states are
  /// not `Sendable`, only one actor can use the machine.
  associatedtype State
  /// The past facts that the machine reacts to. Time, where it matters, is in the payload.
  associatedtype Event

  /// The state that a new machine is in.
  var initial: State { get }

  /// The transition function: the state after `event` in `state`.
  ///
  /// - Returns: the next state, or `nil` if the state ignores the event. An ignored event is not an
  ///   error: it changes nothing and calls no observer.
  ///
  /// Write it as one exhaustive `switch` over the pair, without `default:`, so that the compiler
  /// names a forgotten pair when a state or an event is added.
  func next(_ state: State, on event: Event) -> State?

  /// The name of a state, without its payload. By default the case's name if it has a payload, and
  /// otherwise the value's description.
  ///
  /// A step between two states of one name changes a payload, not the state; see
  /// ``reenters(_:on:)``.
  func name(of state: State) -> String

  /// The name of an event, without its payload. The default is as for ``name(of:)``.
  func name(ofEvent event: Event) -> String

  /// Whether `event`, if it leads to a state of the same name, leaves `state` and enters it again:
  /// its timeout then starts again, and observers are called. By default, no event does this.
  func reenters(_ state: State, on event: Event) -> Bool

  /// The states in which the machine ends. No event leaves them. By default there are none.
  ///
  /// One state of each name is enough.
  var finalStates: [State] { get }

  /// Whether the machine has come to its end in `state`: by default, whether a state of the same
  /// name is among ``finalStates``.
  func isFinal(_ state: State) -> Bool

  /// The states in which the machine accepts what it was sent: F of the automaton (Q, Σ, δ, q₀, F).
  /// Events may leave them. By default there are none.
  ///
  /// One state of each name is enough.
  var acceptingStates: [State] { get }
}

extension Rules {
  /// The name of the enumeration's case, or the value's description.
  @inlinable
  public func name(of state: State) -> String { caseName(state) }

  /// The name of the enumeration's case, or the value's description.
  @inlinable
  public func name(ofEvent event: Event) -> String { caseName(event) }

  /// By default, no event re-enters a state.
  @inlinable
  public func reenters(_ state: State, on event: Event) -> Bool { false }

  /// By default, no state is final.
  @inlinable
  public var finalStates: [State] { [] }

  /// By default, no state is accepting.
  @inlinable
  public var acceptingStates: [State] { [] }

  /// Whether a state has the same name as one of ``finalStates``.
  @inlinable
  public func isFinal(_ state: State) -> Bool {
    let states = finalStates
    return !states.isEmpty && states.map(name).contains(name(of: state))
  }
}

/// The name of an enumeration's case without its payload, or the description of anything else.
@usableFromInline
func caseName(_ value: some Any) -> String {
  let mirror = Mirror(reflecting: value)
  guard mirror.displayStyle == .enum, let label = mirror.children.first?.label else {
    return String(describing: value)
  }
  return label
}
