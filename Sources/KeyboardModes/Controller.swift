import StateMachines

/// Turns the inputs of keyboards and programs into changes of the two machines.
///
/// The controller is pure: it reads no clock and no file, and depends only on its inputs. Live
/// service, replay and tests run this same code, so the same inputs give the same changes.
///
/// Key events take effect one by one as they are read, not at the end of their frame. For each
/// press:
///
/// 1. A Shift key sends `shiftPressed`, at once or as a tap (``Settings/ShiftTrigger``), unless it
///    belongs to a shortcut.
/// 2. A bound chord sends its keyboard events, at once or later (``Use``); its autorepeats are
///    ignored.
/// 3. A character key, with neither Ctrl, left Alt nor Meta held on any device, types a character;
///    so does its autorepeat.
/// 4. Any other press does nothing but take back a Shift that is held: see `Controller+Shift.swift`.
///
/// A press that is a bounce of its key's switch is ignored (``Settings/debounce``): see
/// `Controller+Time.swift`.
public struct Controller: Sendable {
  /// The settings in force.
  public private(set) var settings: Settings
  private(set) var shift: StateMachine<ShiftRules>
  private var keyboard: StateMachine<KeyboardTable>
  var keys = HeldKeysOfAll()
  var tap: TapCandidate?
  var openShifts = OpenShifts()
  var openUses: [OpenUse] = []
  /// The releases that the daemon before this one awaited, and whose keys no device holds so far.
  var inherited: [AwaitedRelease] = []
  /// The releases that are awaited, for the ``snapshot``. Kept, so that a snapshot costs next to
  /// nothing.
  var awaitedReleases: [AwaitedRelease] = []
  /// When the kernel is asked next whether the keys of open uses are still down; `nil` if there are
  /// none.
  public internal(set) var nextCheck: Time?
  /// The time of the last input that a batch had.
  var latest = Time(microseconds: .min)
  /// Counts what the ``snapshot`` may show: changes, and everything else in it.
  public internal(set) var revision = 0
  private var sequence: Int64 = 0
  private(set) var shiftSince: Time?

  /// Whether a ``deadline`` is possible. Cached, because every event needs it.
  public internal(set) var hasDeadlines: Bool
  /// Whether debouncing is on. Cached for the same reason.
  private(set) var isDebouncing: Bool
  private var keyboardSince: Time?

  /// A controller in the initial states, without devices.
  public init(settings: Settings = Settings()) {
    self.settings = settings
    shift = StateMachine(settings.shift)
    keyboard = StateMachine(settings.keyboard)
    hasDeadlines = settings.haveDeadlines
    isDebouncing = settings.isDebouncing
  }

  /// A controller that continues from the snapshot of another one on the same clock.
  ///
  /// The settings may differ from those of the other controller. `publish` receives the changes
  /// that this causes: if by a shorter timeout `on` should have ended by the time of the last
  /// change, it ends at that time; if the table lacks the keyboard machine's state, that machine
  /// changes to its initial state at `time`, by the event ``Change/configured``.
  ///
  /// - Parameter last: the time of the last change, if there was one.
  public init(
    settings: Settings = Settings(), resuming snapshot: Snapshot, changedLast last: Time?,
    at time: Time, publish: (Change) -> Void
  ) {
    self.init(settings: settings)
    shift = StateMachine(settings.shift, in: snapshot.shift)
    let modes = snapshot.modes
    sequence = modes.sequence
    (shiftSince, keyboardSince) = (modes.shiftSince, modes.keyboardSince)
    inherited = snapshot.awaitedReleases
    awaitedReleases = inherited
    if let last { endOverdueShift(at: last, publish) }
    if settings.keyboard.state(named: modes.keyboard) == nil {
      advance(to: time, publish: publish)
    }
    configure(settings.keyboard, from: modes.keyboard, at: time, publish)
  }

  /// The states of both machines now.
  public var modes: Modes {
    Modes(
      sequence: sequence, shift: shift.state.name, shiftSince: shiftSince,
      keyboard: keyboard.rules.name(of: keyboard.state), keyboardSince: keyboardSince)
  }

  /// Takes one input and passes each change that it causes to `publish`, in order. Everything due
  /// by the time of an input happens before it.
  public mutating func take(_ input: Input, publish: (Change) -> Void) {
    switch input {
    case .opened(let device, let held):
      let index = keys.index(of: device)
      keys[index].forgetReleases()
      for key in held { keys[index].press(key) }
      inherit(held, index)
    case .key(let device, let event):
      take(event, keys.index(of: device), publish)
    case .missedRelease(let device, let key, let time):
      let release = KeyEvent(time: time, key: key, action: .release)
      take(release, keys.index(of: device), publish)
    case .synchronized(let device, let differences, let time):
      take(differences, keys.index(of: device), at: time, publish)
    case .gone(let device, let time):
      if hasDeadlines { advance(to: time, publish: publish) }
      settleTap(publish)
      endUses(on: device, at: time, publish)
      openShifts.remove(device)
      keys.remove(device)
    case .allOpened(let time):
      if hasDeadlines { advance(to: time, publish: publish) }
      releaseInherited(at: time, publish)
    case .client(let event, let time):
      take(event, at: time, publish)
    case .configured(let settings, let time):
      if hasDeadlines { advance(to: time, publish: publish) }
      settleTap(publish)
      let uses = endUses(replacedBy: settings, at: time, publish)
      openShifts.removeAll()
      self.settings = settings
      resume(uses, at: time)
      hasDeadlines = settings.haveDeadlines
      isDebouncing = settings.isDebouncing
      shift = StateMachine(settings.shift, in: shift.state)
      endOverdueShift(at: time, publish)
      let state = keyboard.rules.name(of: keyboard.state)
      configure(settings.keyboard, from: state, at: time, publish)
      tap = nil
    }
  }

  /// Ends an `on` that by new settings is overdue. The change has the time `time`, because these
  /// settings were not in force when `on` was due.
  private mutating func endOverdueShift(at time: Time, _ publish: (Change) -> Void) {
    if let due = shiftDeadline, due <= time { send(.timedOut, at: time, publish) }
  }

  /// Continues the keyboard machine with `table`, in the state called `name` or, if the table lacks
  /// it, in the initial state.
  private mutating func configure(
    _ table: KeyboardTable, from name: String, at time: Time, _ publish: (Change) -> Void
  ) {
    if let state = table.state(named: name) {
      keyboard = StateMachine(table, in: state)
    } else {
      keyboard = StateMachine(table)
      keyboardSince = time
      let initial = table.name(of: table.initial)
      publish(change(.keyboard, name, initial, Change.configured, at: time))
    }
  }

  /// Takes several key events of one device. Each has the same effect as the input
  /// `.key(device, event)`.
  public mutating func take(_ events: [KeyEvent], on device: DeviceID, publish: (Change) -> Void) {
    let index = keys.index(of: device)
    for event in events { take(event, index, publish) }
  }

  /// The meaning that a press of `key` would have now.
  public func meaning(ofPress key: KeyCode, on device: DeviceID) -> PressMeaning {
    let held = modifiers(forPressOf: key, on: device)
    let meaning = settings.bindings.meaning(of: key, held)
    return meaning == .shift && belongsToShortcut(held) ? .other : meaning
  }

  /// The modifiers that are held now on any device, by keys other than `key` of this device.
  public func modifiers(forPressOf key: KeyCode, on device: DeviceID) -> Modifiers {
    keys.devices.reduce(into: Modifiers()) { held, other in
      held.formUnion(other.device == device ? other.held(without: key) : other.held())
    }
  }
}

// MARK: - Events of the machines

extension Controller {
  private mutating func take(_ event: ClientEvent, at time: Time, _ publish: (Change) -> Void) {
    if hasDeadlines { advance(to: time, publish: publish) }
    settleTap(publish)
    openShifts.removeAll()
    switch event {
    case .shiftPressed: send(.shiftPressed(at: time), at: time, publish)
    case .characterTyped: send(.characterTyped, at: time, publish)
    case .keyboard(let event): send(event, at: time, publish)
    }
  }

  mutating func send(_ event: ShiftRules.Event, at time: Time, _ publish: (Change) -> Void) {
    guard let step = shift.take(event) else { return }
    // Only the time of the press is new: the snapshot has it, but it is no change.
    guard step.from.name != step.to.name else { return revision += 1 }
    shiftSince = time
    publish(change(.shift, step.from.name, step.to.name, event.name, at: time))
  }

  mutating func send(_ event: KeyboardTable.Event, at time: Time, _ publish: (Change) -> Void) {
    guard let step = keyboard.take(event) else { return }
    keyboardSince = time
    let table = keyboard.rules
    let (from, to) = (table.name(of: step.from), table.name(of: step.to))
    publish(change(.keyboard, from, to, table.name(ofEvent: event), at: time))
  }

  /// The next change of the sequence.
  private mutating func change(
    _ machine: Machine, _ from: String, _ to: String, _ event: String, at time: Time
  ) -> Change {
    sequence += 1
    revision += 1
    return Change(
      sequence: sequence, time: time, machine: machine, from: from, to: to, event: event)
  }
}
