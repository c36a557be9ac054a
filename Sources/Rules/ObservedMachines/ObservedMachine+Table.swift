public import StateMachines

/// A row of a transition table, with what it does.
public struct ActingRow<State: Hashable & Sendable, Event: Hashable & Sendable> {
  /// A machine with such rows.
  public typealias Machine = ObservedMachine<TransitionTable<State, Event>>

  let row: TransitionTable<State, Event>.Row
  let before, after: ((Machine.Step) -> Void)?

  /// A row that calls `before` before the state changes, and `after` after that.
  public init(
    _ state: State, _ event: Event, _ next: State, reenters: Bool = false,
    before: ((Machine.Step) -> Void)? = nil, after: ((Machine.Step) -> Void)? = nil
  ) {
    row = .init(state, event, next, reenters: reenters)
    (self.before, self.after) = (before, after)
  }
}

extension ObservedMachine {
  /// A machine whose rules are a table. Throws the first fault that is found.
  public convenience init<State, Event>(
    states: [State], initial: State, finalStates: [State] = [], rows: [ActingRow<State, Event>]
  ) throws(TransitionTable<State, Event>.Fault) where R == TransitionTable<State, Event> {
    try self.init(
      TransitionTable(
        states: states, initial: initial, finalStates: finalStates, rows: rows.map(\.row)))
    for row in rows {
      if let action = row.before { try before(row.row.state, on: row.row.event, action) }
      if let action = row.after { try after(row.row.state, on: row.row.event, action) }
    }
  }
}

extension ObservedMachine where R: Tabular {
  /// Calls `action` before each step of one row. Throws if the table has no such row.
  @discardableResult
  public func before(
    _ state: R.State, on event: R.Event, _ action: @escaping (Step) -> Void
  ) throws(TransitionTable<R.State, R.Event>.Fault) -> Registration {
    add(try rowHook(state, event, action), to: \.befores)
  }

  /// Calls `action` after each step of one row. Throws if the table has no such row.
  @discardableResult
  public func after(
    _ state: R.State, on event: R.Event, _ action: @escaping (Step) -> Void
  ) throws(TransitionTable<R.State, R.Event>.Fault) -> Registration {
    add(try rowHook(state, event, action), to: \.afters)
  }

  private func rowHook(
    _ state: R.State, _ event: R.Event, _ action: @escaping (Step) -> Void
  ) throws(TransitionTable<R.State, R.Event>.Fault) -> Hook<R> {
    guard rules.next(state, on: event) != nil else { throw .noRow(state, event) }
    return hook(state, event, action)
  }
}
