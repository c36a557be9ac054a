import StateMachines

/// The Shift machine, the keyboard machine and the locks. One sequence numbers all their changes.
struct Machines: Sendable {
  private var shift: StateMachine<ShiftRules>
  private var keyboard: StateMachine<KeyboardTable>
  private var shiftSince: Time?
  private var keyboardSince: Time?
  /// When the last press of Shift was found whose own time is unknown.
  private var shiftFound: Time?
  private var locks = LockStates()
  private var sequence: Int64 = 0

  /// The changes since ``forgetChanges()``, in order.
  private(set) var changes: [Change] = []

  /// Counts the changes, and the steps that change only the time of a press.
  private(set) var revision = 0

  init(_ settings: Settings) {
    shift = StateMachine(settings.shift)
    keyboard = StateMachine(settings.keyboard)
  }

  var shiftState: ShiftRules.State { shift.state }

  var modes: Modes {
    Modes(
      sequence: sequence, shift: shift.state.name, shiftSince: shiftSince,
      keyboard: keyboard.rules.name(of: keyboard.state), keyboardSince: keyboardSince,
      locks: locks)
  }

  /// When the press of the present `on` was found, if its own time is unknown.
  var shiftFoundOn: Time? { shift.state == .on(since: nil) ? shiftFound : nil }

  /// Whether an unused `on` ends after some time.
  var hasTimeout: Bool { shift.rules.timeout != nil }

  /// When `on` ends if it is not used; `nil` in other states, or without a timeout.
  var shiftDue: Time? {
    guard case .on(let since) = shift.state, let timeout = shift.rules.timeout else { return nil }
    return (since ?? shiftFound)?.advanced(by: timeout)
  }

  /// Forgets the changes. Their memory is used again, unless a caller still has them.
  mutating func forgetChanges() {
    if !changes.isEmpty { changes.removeAll(keepingCapacity: true) }
  }

  // MARK: Events

  mutating func send(_ event: ShiftRules.Event, at time: Time) {
    guard let step = shift.take(event) else { return }
    if case .shiftPressed(nil) = event { shiftFound = time }
    // A new time of the press belongs in the snapshot, but the state has not changed.
    guard step.from.name != step.to.name else { return revision += 1 }
    shiftSince = time
    add(.shift, step.from.name, step.to.name, event.name, at: time)
  }

  mutating func send(_ event: KeyboardTable.Event, at time: Time) {
    guard let step = keyboard.take(event) else { return }
    keyboardSince = time
    let table = keyboard.rules
    add(
      .keyboard, table.name(of: step.from), table.name(of: step.to), table.name(ofEvent: event),
      at: time)
  }

  mutating func send(_ event: LockRules.Event, to lock: Lock, at time: Time) {
    let state = locks[lock]
    guard let next = LockRules().next(state, on: event) else { return }
    locks[lock] = next
    add(lock.machine, state.rawValue, next.rawValue, event.rawValue, at: time)
  }

  /// Ends, at `time`, an `on` that was due to end by then.
  mutating func endOverdueShift(at time: Time) {
    if let due = shiftDue, due <= time { send(.timedOut, at: time) }
  }

  private mutating func add(
    _ machine: Machine, _ from: String, _ to: String, _ event: String, at time: Time
  ) {
    sequence += 1
    revision += 1
    changes.append(
      Change(sequence: sequence, time: time, machine: machine, from: from, to: to, event: event))
  }

  // MARK: Rules

  /// Continues with what another controller's snapshot has of the machines, except for the state of
  /// the keyboard machine: see ``setKeyboard(_:in:at:)``.
  mutating func resume(_ snapshot: Controller.Snapshot) {
    shift = StateMachine(shift.rules, in: snapshot.shift)
    shiftFound = snapshot.shiftFound ?? snapshot.modes.shiftSince
    sequence = snapshot.modes.sequence
    (shiftSince, keyboardSince) = (snapshot.modes.shiftSince, snapshot.modes.keyboardSince)
    locks = snapshot.modes.locks
  }

  /// Continues the Shift machine with these rules.
  mutating func setShift(_ rules: ShiftRules) {
    shift = StateMachine(rules, in: shift.state)
  }

  /// Continues the keyboard machine with `table`, in the state called `name` or, if the table lacks
  /// it, in the initial state.
  mutating func setKeyboard(_ table: KeyboardTable, in name: String, at time: Time) {
    if let state = table.state(named: name) {
      keyboard = StateMachine(table, in: state)
    } else {
      keyboard = StateMachine(table)
      keyboardSince = time
      add(.keyboard, name, table.name(of: table.initial), Change.configured, at: time)
    }
  }
}
