import StateMachines

/// Turns the inputs of keyboards and programs into changes of the two machines.
///
/// The controller is pure: it reads no clock and no file, and depends only on its inputs. Live
/// service, replay and tests run this same code, so the same inputs give the same changes.
///
/// Key events take effect one by one as they are read, not at the end of their frame. For each
/// press:
///
/// 1. A Shift key sends `shiftPressed`, at once or as a tap (``Settings/ShiftTrigger``).
/// 2. A bound chord sends its keyboard event; its autorepeats are ignored.
/// 3. A character key, with neither Ctrl, left Alt nor Meta held on any device, types a character;
///    so does its autorepeat.
/// 4. Any other press is ignored.
///
/// A press that is a bounce of its key's switch is ignored (``Settings/debounce``): see
/// `Controller+Time.swift`.
public struct Controller: Sendable {
  /// An input of the controller.
  public enum Input: Hashable, Sendable {
    /// A device was opened while these keys were down. The controller did not see their presses and
    /// sends no events for them, but modifiers among them count as held.
    case opened(DeviceID, held: [KeyCode])
    /// A key of a device was pressed, released or repeated.
    case key(DeviceID, KeyEvent)
    /// Events of a device were lost, and these keys turned out to have changed. `at` is when the
    /// loss was noticed; the real times of the changes are unknown.
    case synchronized(DeviceID, [KeyDifference], at: Time)
    /// A device went away. Only its own held keys are released.
    case gone(DeviceID)
    /// A program sent an event.
    case client(ClientEvent, at: Time)
    /// These settings replace the previous ones. States and held keys stay as they are; a press of
    /// Shift that could still become a tap is forgotten. If the new table lacks the keyboard
    /// machine's state, that machine changes to its initial state by the event
    /// ``Change/configured``.
    ///
    /// This case is indirect because it is large and rare among many stored inputs.
    indirect case configured(Settings, at: Time)

    /// The device of this input; `nil` for a client event and for settings.
    public var device: DeviceID? {
      switch self {
      case .opened(let device, _), .key(let device, _), .synchronized(let device, _, _),
        .gone(let device):
        device
      case .client, .configured: nil
      }
    }

    /// Whether `key` of `device` may be up after this input.
    public func mayRelease(_ key: KeyCode, on device: DeviceID) -> Bool {
      switch self {
      case .key(device, let event): event.key == key && event.action == .release
      case .opened(device, _), .synchronized(device, _, _), .gone(device): true
      case .opened, .key, .synchronized, .gone, .client, .configured: false
      }
    }
  }

  /// The settings in force.
  public private(set) var settings: Settings
  private(set) var shift: StateMachine<ShiftRules>
  private var keyboard: StateMachine<KeyboardTable>
  private(set) var keys = HeldKeysOfAll()
  var tap: TapCandidate?
  private var sequence: Int64 = 0
  private(set) var shiftSince: Time?

  /// Whether a ``deadline`` is possible. Cached, because every event needs it.
  public private(set) var hasDeadlines: Bool
  /// Whether debouncing is on. Cached for the same reason.
  private var isDebouncing: Bool
  private var keyboardSince: Time?

  /// A controller in the initial states, without devices.
  public init(settings: Settings = Settings()) {
    self.settings = settings
    shift = StateMachine(settings.shift)
    keyboard = StateMachine(settings.keyboard)
    hasDeadlines = settings.haveDeadlines
    isDebouncing = settings.debounce > .zero
  }

  /// The part of a controller's state from which another controller can continue. Held keys are not
  /// part of it: the devices report them.
  public struct Snapshot: Hashable, Sendable {
    /// The number of the last change.
    public let sequence: Int64
    /// The state of the Shift machine.
    public let shift: ShiftRules.State
    /// The time of the change that entered it; `nil` before the first change.
    public let shiftSince: Time?
    /// The name of the keyboard machine's state.
    public let keyboard: String
    /// The time of the change that entered it; `nil` before the first change.
    public let keyboardSince: Time?

    /// The snapshot with these parts.
    public init(
      sequence: Int64, shift: ShiftRules.State, shiftSince: Time?, keyboard: String,
      keyboardSince: Time?
    ) {
      self.sequence = sequence
      self.shift = shift
      self.shiftSince = shiftSince
      self.keyboard = keyboard
      self.keyboardSince = keyboardSince
    }
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
    sequence = snapshot.sequence
    shiftSince = snapshot.shiftSince
    keyboardSince = snapshot.keyboardSince
    if let last { endOverdueShift(at: last, publish) }
    if settings.keyboard.state(named: snapshot.keyboard) == nil {
      advance(to: time, publish: publish)
    }
    configure(settings.keyboard, from: snapshot.keyboard, at: time, publish)
  }

  /// A snapshot from which another controller can continue.
  public var snapshot: Snapshot {
    Snapshot(
      sequence: sequence, shift: shift.state, shiftSince: shiftSince,
      keyboard: keyboard.rules.name(of: keyboard.state), keyboardSince: keyboardSince)
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
    case .key(let device, let event):
      take(event, keys.index(of: device), publish)
    case .synchronized(let device, let differences, let time):
      take(differences, keys.index(of: device), at: time, publish)
    case .gone(let device):
      settleTap(publish)
      keys.remove(device)
    case .client(let event, let time):
      take(event, at: time, publish)
    case .configured(let settings, let time):
      if hasDeadlines { advance(to: time, publish: publish) }
      settleTap(publish)
      self.settings = settings
      hasDeadlines = settings.haveDeadlines
      isDebouncing = settings.debounce > .zero
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
  public mutating func take(
    _ events: [KeyEvent], on device: DeviceID, publish: (Change) -> Void
  ) {
    let index = keys.index(of: device)
    for event in events { take(event, index, publish) }
  }

  /// Takes one input, and before it the releases that a grab hid: see
  /// ``missedReleases(before:followedBy:keysUp:)``.
  public mutating func take(
    _ input: Input, followedBy rest: ArraySlice<Input>,
    keysUp: ([KeyCode], DeviceID) -> [KeyCode], publish: (Change) -> Void
  ) {
    for release in missedReleases(before: input, followedBy: rest, keysUp: keysUp) {
      take(release, publish: publish)
    }
    take(input, publish: publish)
  }

  /// The meaning that a press of `key` would have now.
  public func meaning(ofPress key: KeyCode, on device: DeviceID) -> PressMeaning {
    let held = keys.devices.reduce(into: Modifiers()) { held, other in
      held.formUnion(other.device == device ? other.held(without: key) : other.held())
    }
    return settings.bindings.meaning(of: key, held)
  }

  /// The releases that a grab hid and that the controller must take before `input`.
  ///
  /// If another program grabs a device while a key is down, the device never reports the release,
  /// not even after the grab ends. So before the meaning of a press on any device depends on a held
  /// modifier, `keysUp` asks the kernel whether that modifier's key is up. The kernel reports the
  /// present state, and the press may be older: a release that is still queued, in `rest` or unread
  /// on the device, takes effect in its turn and is not a missed one.
  ///
  /// - Parameters:
  ///   - rest: the known inputs after `input`.
  ///   - keysUp: returns which of the given keys are up on a device that has no unread events.
  public func missedReleases(
    before input: Input, followedBy rest: ArraySlice<Input>,
    keysUp: ([KeyCode], DeviceID) -> [KeyCode]
  ) -> [Input] {
    guard case .key(let device, let event) = input, event.action == .press else { return [] }
    let deciding = modifiersDeciding(pressOf: event.key)
    // These modifiers are hardly ever held, so this is the common path.
    guard keys.isAnyHeld(of: deciding) else { return [] }
    return keys.devices.compactMap { other in
      guard !other.held().isDisjoint(with: deciding) else { return nil }
      let held = Modifiers.keys.filter { key in
        other.down.contains(key) && !Modifiers(of: key).isDisjoint(with: deciding)
          && (other.device != device || key != event.key)
          && !rest.contains { $0.mayRelease(key, on: other.device) }
      }
      let up = held.isEmpty ? [] : keysUp(held, other.device)
      guard !up.isEmpty else { return nil }
      let releases = up.map { KeyDifference(key: $0, isDown: false) }
      return .synchronized(other.device, releases, at: event.time)
    }
  }

  /// The modifiers on which the meaning of a press of `key` depends.
  private func modifiersDeciding(pressOf key: KeyCode) -> Modifiers {
    if key.isShift { return [] }
    if settings.bindings.usesKey(key) { return Modifiers.commands.union(.shift) }
    // Such a key types a character with and without Shift.
    return key.isCharacter ? .commands : []
  }
}

// MARK: - Keys

extension Controller {
  private mutating func take(
    _ event: KeyEvent, _ index: Int, _ publish: (Change) -> Void
  ) {
    if hasDeadlines { advance(to: event.time, publish: publish) }
    switch event.action {
    case .press: press(event.key, index, time: event.time, stamp: event.time, publish)
    case .release: release(event.key, index, at: event.time, publish)
    case .autorepeat: `repeat`(event.key, index, at: event.time, publish)
    }
  }

  private mutating func take(
    _ differences: [KeyDifference], _ index: Int, at time: Time, _ publish: (Change) -> Void
  ) {
    if hasDeadlines { advance(to: time, publish: publish) }
    settleTap(publish)
    // Another key may have been pressed and released while events were lost, so the press of Shift
    // may not be a tap.
    tap = nil
    for difference in KeyDifference.inOrderOfEffect(differences) {
      if difference.isDown {
        press(difference.key, index, time: nil, stamp: time, publish)
      } else {
        release(difference.key, index, at: time, publish)
      }
    }
  }

  /// - Parameters:
  ///   - time: when the key really went down; `nil` if that is unknown.
  ///   - stamp: the time of a change that the press causes.
  private mutating func press(
    _ key: KeyCode, _ index: Int, time: Time?, stamp: Time, _ publish: (Change) -> Void
  ) {
    if isDebouncing, keys[index].resume(key, at: stamp, settings.debounce) {
      // The key was down throughout, so its press may still become a tap.
      if tap?.isPress(of: key, keys[index].device) == true { tap?.released = nil }
      return
    }
    let held = keys.modifiersHeld(without: key, index)
    keys[index].press(key)
    if tap != nil {
      settleTap(publish)
      tap = nil
    }
    switch settings.bindings.meaning(of: key, held) {
    case .shift: pressShift(key, index, time: time, stamp: stamp, publish)
    case .bound(let event):
      keys[index].consume(key)
      send(event, at: stamp, publish)
    case .character: send(.characterTyped, at: stamp, publish)
    case .other: break
    }
  }

  private mutating func pressShift(
    _ key: KeyCode, _ index: Int, time: Time?, stamp: Time, _ publish: (Change) -> Void
  ) {
    switch settings.shiftTrigger {
    case .press: send(.shiftPressed(at: time), at: stamp, publish)
    case .tap(let timeout):
      guard let time else { return }  // how long it was held will not be known
      tap = TapCandidate(key, of: keys[index].device, pressed: time, timeout: timeout)
    }
  }

  private mutating func release(
    _ key: KeyCode, _ index: Int, at time: Time, _ publish: (Change) -> Void
  ) {
    let wasDown =
      isDebouncing
      ? keys[index].release(key, at: time, settings.debounce) : keys[index].release(key)
    guard wasDown, let tap, tap.isPress(of: key, keys[index].device) else { return }
    guard time.isWithin(tap.timeout, of: tap.pressed) else { return self.tap = nil }
    self.tap?.released = time
    if !isDebouncing { settleTap(publish) }
  }

  private mutating func `repeat`(
    _ key: KeyCode, _ index: Int, at time: Time, _ publish: (Change) -> Void
  ) {
    guard !keys[index].isConsumed(key), key.types(with: keys.modifiersHeld(without: key, index))
    else { return }
    settleTap(publish)
    send(.characterTyped, at: time, publish)
  }
}

// MARK: - Events of the machines

extension Controller {
  private mutating func take(
    _ event: ClientEvent, at time: Time, _ publish: (Change) -> Void
  ) {
    if hasDeadlines { advance(to: time, publish: publish) }
    settleTap(publish)
    switch event {
    case .shiftPressed: send(.shiftPressed(at: time), at: time, publish)
    case .characterTyped: send(.characterTyped, at: time, publish)
    case .keyboard(let event): send(event, at: time, publish)
    }
  }

  mutating func send(
    _ event: ShiftRules.Event, at time: Time, _ publish: (Change) -> Void
  ) {
    guard let step = shift.take(event) else { return }
    shiftSince = time
    publish(change(.shift, step.from.name, step.to.name, event.name, at: time))
  }

  private mutating func send(
    _ event: KeyboardTable.Event, at time: Time, _ publish: (Change) -> Void
  ) {
    guard let step = keyboard.take(event) else { return }
    keyboardSince = time
    let table = keyboard.rules
    publish(
      change(
        .keyboard, table.name(of: step.from), table.name(of: step.to), table.name(of: event),
        at: time))
  }

  /// The next change of the sequence.
  private mutating func change(
    _ machine: Machine, _ from: String, _ to: String, _ event: String, at time: Time
  ) -> Change {
    sequence += 1
    return Change(
      sequence: sequence, time: time, machine: machine, from: from, to: to, event: event)
  }
}
