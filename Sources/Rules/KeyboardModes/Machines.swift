import StateMachines

/// All machines: Shift, machines with tables, and locks. One sequence numbers all their changes.
struct Machines: Sendable {
  /// A machine whose rules are a table.
  private struct Table: Sendable {
    var machine: StateMachine<CompiledTable>
    /// When the state was entered; `nil` for an initial state until ``fillInEntryTimes(at:)``.
    private(set) var entered: Time?
    /// When the timeout of the present state is due; `nil` if the state has none.
    private(set) var due: Time?

    init(_ rules: CompiledTable) { machine = StateMachine(rules) }

    /// Notes that the present state was entered at `time`, with no timeout due before `earliest`.
    mutating func enter(at time: Time, notBefore earliest: Time? = nil) {
      entered = time
      due = machine.rules.timeout(of: machine.state).flatMap { time.advanced(by: $0.after) }
        .map { max($0, earliest ?? $0) }
    }
  }

  private var shift: StateMachine<ShiftRules>
  private var tables: [Table]
  /// When the last press of Shift with an unknown time was found.
  private var lastShiftFoundTime: Time?

  /// The states of Shift, of the machines in the order of ``Settings/machines``, and of the locks.
  private(set) var states: States

  /// The changes since ``forgetChanges()``, in order.
  private(set) var changes: [Change] = []

  /// Counts changes, new lists of machines, and steps that change only the time of a press.
  private(set) var revision = 0

  /// Counts the settings that added or removed machines.
  private(set) var listRevision = 0

  /// Whether a table has a timeout.
  private var tablesHaveTimeouts: Bool

  /// Whether an initial state may still lack the time at which it was entered.
  private(set) var lacksEntryTimes = true

  init(_ settings: Settings) {
    shift = StateMachine(settings.shift)
    tables = settings.machines.map { Table($0.table) }
    tablesHaveTimeouts = settings.machines.contains(where: \.table.hasTimeouts)
    states = States(
      sequence: 0,
      [States.Entry(.shift, shift.state.name)]
        + settings.machines.map { States.Entry($0.name, $0.table.name(of: $0.table.initial)) }
        + Lock.allCases.map { States.Entry($0.machine, LockRules().initial.rawValue) })
  }

  var shiftState: ShiftRules.State { shift.state }

  /// When the press that began `on` was found, if its own time is unknown; otherwise `nil`.
  var shiftFoundTime: Time? { shift.state == .on(since: nil) ? lastShiftFoundTime : nil }

  /// Whether Shift or a table has a timeout.
  var hasTimeout: Bool { shift.rules.timeout != nil || tablesHaveTimeouts }

  /// When `on` ends if no key uses it up; `nil` in other states, or without a timeout.
  var shiftDue: Time? {
    guard case .on(let since) = shift.state, let timeout = shift.rules.timeout else { return nil }
    return (since ?? lastShiftFoundTime)?.advanced(by: timeout)
  }

  /// When the first timeout of a table is due, and the index of its machine. At equal times, the
  /// first machine comes first.
  var tableDue: (time: Time, machineIndex: Int)? {
    var first: (time: Time, machineIndex: Int)?
    for (index, table) in tables.enumerated() {
      if let due = table.due, first.map({ due < $0.time }) ?? true { first = (due, index) }
    }
    return first
  }

  /// Forgets the changes. Their memory is used again, unless a caller still has them.
  mutating func forgetChanges() {
    if !changes.isEmpty { changes.removeAll(keepingCapacity: true) }
  }

  // MARK: Events

  mutating func send(_ event: ShiftRules.Event, at time: Time) {
    guard let step = shift.send(event) else { return }
    if case .shiftPressed(nil) = event { lastShiftFoundTime = time }
    // A new time of the press belongs in the snapshot, but the state has not changed.
    guard step.from.name != step.to.name else { return revision += 1 }
    add(.shift, step.from.name, step.to.name, event.name, at: time)
  }

  /// Sends an event to the machine with this index in ``Settings/machines``.
  mutating func send(_ event: CompiledTable.Event, to index: Int, at time: Time) {
    guard let step = tables[index].machine.send(event) else { return }
    let table = tables[index].machine.rules
    tables[index].enter(at: time)
    add(
      states.entries[1 + index].machine, table.name(of: step.from), table.name(of: step.to),
      table.name(ofEvent: event), at: time)
  }

  mutating func send(_ event: LockRules.Event, to lock: Lock, at time: Time) {
    guard let name = states[lock.machine], let state = LockRules.State(rawValue: name),
      let next = LockRules().next(state, on: event)
    else { return }
    add(lock.machine, name, next.rawValue, event.rawValue, at: time)
  }

  /// Ends `on` at `time` if its timeout was due by then.
  mutating func endOverdueShift(at time: Time) {
    if let due = shiftDue, due <= time { send(.timedOut, at: time) }
  }

  private mutating func add(
    _ machine: MachineName, _ from: String, _ to: String, _ event: String, at time: Time
  ) {
    let change = Change(
      sequence: states.sequence + 1, time: time, machine: machine, from: from, to: to, event: event)
    revision += 1
    states.apply(change)
    changes.append(change)
  }

  // MARK: Time and rules

  /// Notes that the states of tables whose time of entry is unknown were entered at `time`.
  mutating func fillInEntryTimes(at time: Time) {
    lacksEntryTimes = false
    for index in tables.indices where tables[index].entered == nil { tables[index].enter(at: time) }
  }

  /// Takes over Shift, the locks and the number of the last change from another controller's
  /// snapshot. ``setTables(_:from:at:notBefore:)`` takes over the states of the tables.
  mutating func resume(_ snapshot: Controller.Snapshot) {
    shift = StateMachine(shift.rules, in: snapshot.shift)
    lastShiftFoundTime = snapshot.shiftFoundTime ?? snapshot.states.since(.shift)
    states.sequence = snapshot.states.sequence
    for index in states.entries.indices {
      let machine = states.entries[index].machine
      guard let entry = snapshot.states.entries.first(where: { $0.machine == machine }),
        machine == .shift || machine.isLock && LockRules.State(rawValue: entry.state) != nil
      else { continue }
      states.entries[index] = entry
    }
  }

  /// Continues the Shift machine with these rules.
  mutating func setShiftRules(_ rules: ShiftRules) {
    shift = StateMachine(rules, in: shift.state)
  }

  /// Replaces the machines with tables. Each continues in its state in `before`; a machine that
  /// `before` lacks begins in its initial state.
  ///
  /// - Parameter earliest: when a timeout is due at the earliest; `nil` if each keeps its own time.
  /// - Returns: the indices of tables that lack their state, for ``setInitialStates(of:at:)``.
  mutating func setTables(
    _ machines: [Settings.TableMachine], from before: States, at time: Time,
    notBefore earliest: Time?
  ) -> [Int] {
    let (shiftEntry, locks) = (states.entries[0], states.entries.suffix(Lock.allCases.count))
    let entered = zip(states.entries.dropFirst(), tables).map { ($0.machine, $1.entered) }
    let entries = machines.map { machine in
      before.entries.first { $0.machine == machine.name }
        ?? States.Entry(machine.name, machine.table.name(of: machine.table.initial))
    }
    let newEntries = [shiftEntry] + entries + locks
    if newEntries.map(\.machine) != states.machines {
      listRevision += 1
      revision += 1
    }
    states.entries = newEntries
    tables = machines.map { Table($0.table) }
    tablesHaveTimeouts = machines.contains(where: \.table.hasTimeouts)
    lacksEntryTimes = false
    var withoutState: [Int] = []
    for (index, entry) in entries.enumerated() {
      let table = tables[index].machine.rules
      guard let state = table.state(named: entry.state) else {
        withoutState.append(index)
        continue
      }
      tables[index].machine = StateMachine(table, in: state)
      let enteredBefore = entered.first { $0.0 == entry.machine }?.1
      tables[index].enter(at: enteredBefore ?? entry.since ?? time, notBefore: earliest)
    }
    return withoutState
  }

  /// Changes the machines with these indices to their initial states.
  mutating func setInitialStates(of indices: [Int], at time: Time) {
    for index in indices {
      let (table, entry) = (tables[index].machine.rules, states.entries[index + 1])
      tables[index].enter(at: time)
      add(entry.machine, entry.state, table.name(of: table.initial), Change.configured, at: time)
    }
  }
}
