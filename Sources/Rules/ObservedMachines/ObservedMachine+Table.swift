public import StateMachines

/// A row of a transition table, and the callbacks of its step.
public struct RowWithCallbacks<State: Hashable & Sendable, Event: Hashable & Sendable> {
  /// A machine with such rows.
  public typealias Machine = ObservedMachine<TransitionTable<State, Event>>

  let row: TransitionTable<State, Event>.Row
  let before, after: ((Machine.Step) -> Void)?

  /// A row with callbacks: `before` is called before the state changes, `after` afterwards.
  public init(
    _ state: State, _ event: Event, _ next: State, reenters: Bool = false,
    before: ((Machine.Step) -> Void)? = nil, after: ((Machine.Step) -> Void)? = nil
  ) {
    row = .init(state, event, next, reenters: reenters)
    (self.before, self.after) = (before, after)
  }
}

extension ObservedMachine {
  /// A machine whose rules are a table. Throws the first error that is found.
  public convenience init<State, Event>(
    states: [State], initial: State, finalStates: [State] = [], acceptingStates: [State] = [],
    rows: [RowWithCallbacks<State, Event>]
  ) throws(TransitionTable<State, Event>.TableError) where R == TransitionTable<State, Event> {
    try self.init(
      TransitionTable(
        states: states, initial: initial, finalStates: finalStates,
        acceptingStates: acceptingStates, rows: rows.map(\.row)))
    for row in rows {
      let hook = { self.hook(row.row.state, row.row.event, nil, $0) }
      if let action = row.before { add(hook(action), to: \.befores) }
      if let action = row.after { add(hook(action), to: \.afters) }
    }
  }
}
