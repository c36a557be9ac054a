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

    /// The row with these parts.
    public init(_ state: State, _ event: Event, _ next: State) {
      self.state = state
      self.event = event
      self.next = next
    }
  }

  /// Why rows are not a valid table.
  public enum Fault: Error, Equatable {
    /// Both rows are for the same state and event, so the machine would not be deterministic.
    case twoRows(Row, Row)
    /// The row names a state that is not among the table's.
    case unknownState(State, in: Row)
    /// Two states have the same name, so names could not tell them apart.
    case sameName(State, State)
    /// The initial state is not among the table's.
    case unknownInitialState(State)
    /// No sequence of events leads to this state.
    case unreachableState(State)
  }

  private struct Pair: Hashable, Sendable {
    let state: State
    let event: Event
  }

  /// Every state, in the given order.
  public let states: [State]
  /// The state that a new machine is in.
  public let initial: State
  /// The rows, in the given order.
  public let rows: [Row]
  private let nextStates: [Pair: State]

  /// A table of `rows`.
  ///
  /// - Throws: the first fault that is found. A table without faults is deterministic, and all its
  ///   states are known and reachable.
  public init(states: [State], initial: State, rows: [Row]) throws(Fault) {
    let known = Set(states)
    var named: [String: State] = [:]
    for state in states {
      if let other = named.updateValue(state, forKey: String(describing: state)) {
        throw .sameName(other, state)
      }
    }
    guard known.contains(initial) else { throw .unknownInitialState(initial) }
    var first: [Pair: Row] = [:]
    for row in rows {
      for state in [row.state, row.next] where !known.contains(state) {
        throw .unknownState(state, in: row)
      }
      if let other = first.updateValue(row, forKey: Pair(state: row.state, event: row.event)) {
        throw .twoRows(other, row)
      }
    }
    self.states = states
    self.initial = initial
    self.rows = rows
    nextStates = first.mapValues(\.next)
    if let name = unreachableStates.first, let state = named[name] {
      throw .unreachableState(state)
    }
  }

  /// A table of rows written as tuples.
  ///
  /// - Throws: the first fault that is found.
  public init(
    states: [State], initial: State, rows: [(State, Event, State)]
  ) throws(Fault) {
    try self.init(states: states, initial: initial, rows: rows.map { Row($0.0, $0.1, $0.2) })
  }

  /// The state in the row of this pair, or `nil` where there is no such row.
  public func next(_ state: State, on event: Event) -> State? {
    nextStates[Pair(state: state, event: event)]
  }

  /// The description of the state. In a table, states with different payloads are different states.
  public func name(of state: State) -> String { String(describing: state) }

  /// Every event that has a row, in the order of the rows.
  public var samples: [Sample<Event>] {
    var seen: Set<Event> = []
    return rows.map(\.event).filter { seen.insert($0).inserted }
      .map { Sample($0, named: String(describing: $0)) }
  }
}
