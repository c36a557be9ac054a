/// Rules that are data: a row for each pair of state and event that is not ignored.
///
///     let turnstile = try TransitionTable(
///       states: ["locked", "unlocked"], initial: "locked",
///       rows: [("locked", "coin", "unlocked"), ("unlocked", "push", "locked")])
///
/// Use a table if the rows come from outside or are clearer than code. Otherwise prefer a `switch`,
/// which the compiler checks.
public struct TransitionTable<State: Hashable & Sendable, Event: Hashable & Sendable>:
  DrawableRules, Equatable
{
  /// The next state for one event in one state.
  public struct Row: Hashable, Sendable {
    /// The state before the event.
    public let state: State
    /// The event.
    public let event: Event
    /// The state after the event.
    public let next: State
    /// Whether the row, if it leads to its own state, leaves the state and enters it again.
    public let reenters: Bool

    /// In `state`, `event` leads to `next`.
    public init(_ state: State, _ event: Event, _ next: State, reenters: Bool = false) {
      (self.state, self.event, self.next, self.reenters) = (state, event, next, reenters)
    }
  }

  /// Why rows are not a valid table.
  public enum TableError: Error, Equatable {
    /// Both rows are for the same state and event, so the machine would not be deterministic.
    case twoRows(Row, Row)
    /// The row names a state that is not among the states of the table.
    case unknownState(State, in: Row)
    /// The row names an event that is not among the events of the table.
    case unknownEvent(Event, in: Row)
    /// Two states have the same name, so names could not tell them apart.
    case sameName(State, State)
    /// The initial state is not among the states of the table.
    case unknownInitialState(State)
    /// This final or accepting state is not among the states of the table.
    case unknownFinalState(State)
    /// No sequence of events leads to this state.
    case unreachableState(State)
  }

  // A synthesized conformance could not be inlined where the table is used.
  @usableFromInline
  struct Pair: Hashable, Sendable {
    @usableFromInline let state: State
    @usableFromInline let event: Event

    @inlinable init(_ state: State, _ event: Event) { (self.state, self.event) = (state, event) }

    @inlinable
    static func == (one: Pair, other: Pair) -> Bool {
      one.state == other.state && one.event == other.event
    }

    @inlinable
    func hash(into hasher: inout Hasher) {
      state.hash(into: &hasher)
      event.hash(into: &hasher)
    }
  }

  /// Every state, in the given order.
  public let states: [State]
  /// The state that a new machine is in.
  public let initial: State
  /// The states in which the machine comes to its end.
  public let finalStates: [State]
  /// The states in which the machine accepts what it was sent.
  public let acceptingStates: [State]
  /// Every event, in the given order; by default in the order of the rows.
  public let events: [Event]
  /// The rows, in the given order.
  public let rows: [Row]
  @usableFromInline let nextStates: [Pair: State]

  /// A table of `rows`.
  ///
  /// - Parameters:
  ///   - events: the events that rows may have; by default the events of `rows`.
  ///   - allowsUnreachable: whether states may be unreachable by any sequence of events.
  /// - Throws: the first error that is found. A table without errors is deterministic; all its
  ///   states are known and, unless `allowsUnreachable`, reachable.
  public init(
    states: [State], initial: State, finalStates: [State] = [], acceptingStates: [State] = [],
    events: [Event]? = nil, rows: [Row], allowsUnreachable: Bool = false
  ) throws(TableError) {
    try Self.checkParts(
      states: states, initial: initial, finalStates: finalStates + acceptingStates, events: events,
      rows: rows)
    self.states = states
    self.initial = initial
    self.finalStates = finalStates
    self.acceptingStates = acceptingStates
    self.events = (events ?? rows.map(\.event)).withoutRepetitions
    self.rows = rows
    nextStates = Dictionary(
      uniqueKeysWithValues: rows.map { (Pair($0.state, $0.event), $0.next) })
    guard !allowsUnreachable, let name = unreachableStates.first,
      let state = states.first(where: { self.name(of: $0) == name })
    else { return }
    throw .unreachableState(state)
  }

  /// A table of rows written as tuples. Throws the first error that is found.
  public init(
    states: [State], initial: State, finalStates: [State] = [], acceptingStates: [State] = [],
    rows: [(State, Event, State)]
  ) throws(TableError) {
    try self.init(
      states: states, initial: initial, finalStates: finalStates, acceptingStates: acceptingStates,
      rows: rows.map { Row($0.0, $0.1, $0.2) })
  }

  /// Throws the first error of a table with these parts, except for unreachable states.
  private static func checkParts(
    states: [State], initial: State, finalStates: [State], events: [Event]?, rows: [Row]
  ) throws(TableError) {
    var named: [String: State] = [:]
    for state in states {
      if let other = named.updateValue(state, forKey: String(describing: state)) {
        throw .sameName(other, state)
      }
    }
    let (known, knownEvents) = (Set(states), events.map(Set.init))
    guard known.contains(initial) else { throw .unknownInitialState(initial) }
    for state in finalStates where !known.contains(state) { throw .unknownFinalState(state) }
    var first: [Pair: Row] = [:]
    for row in rows {
      for state in [row.state, row.next] where !known.contains(state) {
        throw .unknownState(state, in: row)
      }
      if knownEvents?.contains(row.event) == false { throw .unknownEvent(row.event, in: row) }
      if let other = first.updateValue(row, forKey: Pair(row.state, row.event)) {
        throw .twoRows(other, row)
      }
    }
  }

  /// The next state in the row for this state and event, or `nil` if the table has no such row.
  @inlinable
  public func next(_ state: State, on event: Event) -> State? {
    nextStates[Pair(state, event)]
  }

  /// Whether the row for this state and event re-enters the state.
  public func reenters(_ state: State, on event: Event) -> Bool {
    rows.contains { $0.reenters && $0.state == state && $0.event == event }
  }

  /// Whether the state is among ``finalStates``.
  @inlinable
  public func isFinal(_ state: State) -> Bool { finalStates.contains(state) }

  /// The description of the state. In a table, states with different payloads are different states.
  public func name(of state: State) -> String { String(describing: state) }

  /// The description of the event.
  public func name(ofEvent event: Event) -> String { String(describing: event) }

  /// Every event of the table.
  public var samples: [Sample<Event>] { events.map { Sample($0) } }
}
