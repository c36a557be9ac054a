/// Turns the inputs of keyboards and programs into changes of the machines.
///
/// The controller is pure: it reads no clock and no file, and depends only on its inputs. Live
/// service, replay and tests run this same code, so the same inputs give the same changes.
///
/// Key events take effect one by one as they are read, not at the end of their frame. For each
/// press:
///
/// 1. A Shift key sends `shiftPressed`, at once or as a tap (``WaitingTap``), unless it belongs to
///    a shortcut (``RevocableShifts``).
/// 2. A bound chord sends its events to their machines, at once or later (``ActiveChords``); its
///    autorepeats are ignored.
/// 3. A character key, with neither Ctrl, left Alt nor Meta held on any device, types a character;
///    so does its autorepeat.
/// 4. Any other key but AltGr, and a chord bound with exact modifiers, first takes back a held
///    Shift. With no Shift held, it sends `characterTyped` under ``Settings/KeysUsingShift/any``.
///
/// The locks follow what the LEDs show (``LockLEDs``), not the keys.
///
/// Before all else, a press that two nodes of a keyboard report counts once (``TwinKeys``). The
/// bounce of a key's switch is ignored (``Debouncer``), and so is a Shift that a remapper presses
/// again (``LiftedShifts``).
///
/// No rule reads a clock. The controller reports when something is due (``deadline``), and does it
/// when the caller calls ``advance(to:)`` or passes an input of that time or later. How late the
/// caller does so makes no difference to the time of the change.
///
/// The parts of the controller, such as ``ActiveChords``, return events, and the controller sends
/// the events to the machines. Each public function returns the changes that it made, in order.
public struct Controller: Sendable {
  /// The settings in force.
  public private(set) var settings: Settings
  var machines: Machines
  var twins = TwinKeys()
  var debouncer: Debouncer
  var heldKeys = HeldKeys()
  var revocableShifts = RevocableShifts()
  var liftedShifts = LiftedShifts()
  var waitingTap: WaitingTap
  var activeChords: ActiveChords
  var lockLEDs = LockLEDs()
  /// The latest time of an input in all batches so far.
  var latestTime = Time(microseconds: .min)

  /// A controller in the initial states, without devices.
  public init(settings: Settings = Settings()) {
    self.settings = settings
    machines = Machines(settings)
    debouncer = Debouncer(interval: settings.debounce)
    waitingTap = WaitingTap(settings)
    activeChords = ActiveChords(settings)
  }

  /// Continues from the snapshot of another controller on the same clock. Must come before
  /// any input.
  ///
  /// Settings that differ from the settings of the other controller can cause changes. If a
  /// shorter timeout should have ended `on` by the time of the last change, `on` ends at that time.
  /// A machine whose table lacks its state changes to its initial state at `time`, by the event
  /// ``Change/configured``.
  ///
  /// - Parameter last: the time of the last change, if there was one.
  @discardableResult
  public mutating func resume(
    _ snapshot: Snapshot, changedLast last: Time?, at time: Time
  ) -> [Change] {
    machines.resume(snapshot)
    activeChords.inherit(snapshot.awaitedReleases)
    if let last { machines.endOverdueShift(at: last) }
    let withoutState = machines.setTables(
      settings.machines, from: snapshot.states, at: time, notBefore: last)
    // The change to an initial state has this time, so what is due by then comes first.
    if !withoutState.isEmpty { passTime(to: time) }
    machines.setInitialStates(of: withoutState, at: time)
    return machines.changes
  }

  /// The states of all machines now.
  public var states: States { machines.states }

  /// A snapshot from which another controller can continue.
  public var snapshot: Snapshot {
    Snapshot(
      states: states, shift: machines.shiftState, shiftFoundTime: machines.shiftFoundTime,
      awaitedReleases: activeChords.awaitedReleases(in: settings))
  }

  /// Changes whenever the ``snapshot`` may have changed.
  public var revision: Int { machines.revision + activeChords.revision }

  /// What the daemon needs to know of a controller after each batch.
  public struct Status: Hashable, Sendable {
    /// See ``Controller/revision``.
    public let revision: Int
    /// Counts the settings that have added or removed machines.
    public let machineListRevision: Int
    /// See ``Controller/deadline``.
    public let deadline: Time?
    /// See ``Controller/wakeTime``.
    public let wakeTime: Time?
  }

  /// The status now. A getter that is not mutating would first copy the controller.
  public var status: Status {
    mutating get {
      let deadline = nextDue?.time
      return Status(
        revision: revision, machineListRevision: machines.listRevision, deadline: deadline,
        wakeTime: earlier(nextCheck, deadline))
    }
  }

  // MARK: Inputs

  /// Handles one input. Everything due by the time of an input happens before it.
  @discardableResult
  public mutating func handle(_ input: Input) -> [Change] {
    machines.forgetChanges()
    process(input)
    return machines.changes
  }

  /// Handles several key events of one device. Each has the same effect as the input
  /// `.key(device, event)`.
  @discardableResult
  public mutating func handle(_ events: [KeyEvent], on device: DeviceID) -> [Change] {
    machines.forgetChanges()
    for event in events {
      prepareForInput(at: event.time)
      process(event, of: device)
    }
    return machines.changes
  }

  mutating func process(_ input: Input) {
    if let time = input.time { prepareForInput(at: time) }
    guard case .key(let device, let event) = input else {
      for counted in twins.handle(input) { process(counted: counted) }
      return
    }
    process(event, of: device)
  }

  private mutating func process(counted input: Input) {
    switch input {
    case .opened(let device, let held):
      debouncer.remove(device)
      heldKeys.open(device, held)
      // The presses of these keys were not seen, so none of them is revocable.
      revocableShifts.remove(device)
      liftedShifts.remove(device)
      for key in activeChords.adopt(held, of: device, settings) {
        heldKeys.noteChord(completedBy: key)
      }
    case .key(let device, let event): process(event, DeviceKey(device, event.key))
    case .missedRelease(let device, let key, let time):
      release(DeviceKey(device, key), at: time, inFrame: false)
      // The key went up earlier, so a press of Shift now does not continue an older press.
      liftedShifts.remove(device)
    case .synchronized(let device, let differences, let time):
      synchronize(device, differences, at: time)
    case .gone(let device, let time):
      applyWaitingShifts()
      applyWaitingReleases(on: device)
      debouncer.remove(device)
      send(activeChords.end(on: device, at: time))
      revocableShifts.remove(device)
      liftedShifts.remove(device)
      heldKeys.remove(device)
      lockLEDs.remove(device)
      updateLocks(at: time)
    case .allOpened(let time):
      send(activeChords.releaseInherited(at: time, settings))
      updateLocks(at: time)
    case .leds(let device, let report, let time):
      lockLEDs.update(device, by: report, isOpening: time == nil)
      if let time { updateLocks(at: time) }
    case .client(let event, let time):
      if case .table(let machineIndex, let event) = event, machineIndex > 0 {
        // A machine of the user's own has nothing to do with Shift.
        return machines.send(event, to: machineIndex, at: time)
      }
      applyWaitingShifts()
      revocableShifts.removeAll()
      switch event {
      case .shiftPressed: machines.send(.shiftPressed(at: time), at: time)
      case .characterTyped: machines.send(.characterTyped, at: time)
      case .table(let machineIndex, let event): machines.send(event, to: machineIndex, at: time)
      }
    case .configured(let settings, let time): configure(settings, at: time)
    }
  }

  private mutating func configure(_ next: Settings, at time: Time) {
    // Chords that end now end by the old settings, and send events of the old tables.
    applyWaitingShifts()
    applyWaitingReleases()
    send(activeChords.rebind(from: settings, to: next, at: time))
    settings = next
    debouncer.interval = next.debounce
    revocableShifts.removeAll()
    waitingTap = WaitingTap(next)
    machines.setShiftRules(next.shift)
    // These settings were not in force when `on` was due, so `on` ends only now.
    machines.endOverdueShift(at: time)
    let withoutState = machines.setTables(next.machines, from: states, at: time, notBefore: time)
    machines.setInitialStates(of: withoutState, at: time)
    updateLocks(at: time)
  }

  // MARK: Time

  /// When the caller must next call ``advance(to:)`` if no input comes before; `nil` if nothing is
  /// due.
  ///
  /// While a tap of Shift waits for a possible bounce, the timeout of `on` waits too: the tap
  /// counts at the time of its press, before this timeout.
  public var deadline: Time? { nextDue?.time }

  /// When the kernel is asked next whether the keys of active chords are still down; `nil` without
  /// active chords.
  public var nextCheck: Time? { activeChords.nextCheck }

  /// When the caller must next call ``handle(_:keysUp:beforeEach:)`` if no input comes before: at
  /// the ``deadline``, or to ask the kernel whether keys are still down. `nil` for never.
  public var wakeTime: Time? { earlier(nextCheck, deadline) }

  /// Performs everything due at `time` or before. The change of a timeout or hold has the time at
  /// which it was due. The change of a release has the time of the release, and the change of a tap
  /// of Shift the time of the press.
  ///
  /// A deadline comes before an input of the same time: ``handle(_:)`` first performs what is due
  /// by the time of its input.
  @discardableResult
  public mutating func advance(to time: Time) -> [Change] {
    machines.forgetChanges()
    passTime(to: time)
    return machines.changes
  }

  /// Performs everything due at `time` or before, and counts taps and releases that still wait for
  /// a possible bounce. Call this after the last input.
  @discardableResult
  public mutating func end(at time: Time) -> [Change] {
    machines.forgetChanges()
    passTime(to: time)
    applyWaitingReleases()
    applyWaitingShifts()
    passTime(to: time)
    return machines.changes
  }

  /// Performs what comes before an input at `time`.
  @inline(__always)
  private mutating func prepareForInput(at time: Time) {
    passTime(to: time)
    if lockLEDs.hasUnsentReports { updateLocks(at: time) }
    if machines.lacksEntryTimes { machines.fillInEntryTimes(at: time) }
    if heldKeys.lacksShortcutKeyTimes { heldKeys.fillInShortcutKeyTimes(at: time) }
  }

  /// Performs all that is due by `time`. Inlined, because for most events nothing can be due. A
  /// release that waits for a possible bounce has an active chord, so no condition of its own.
  @inline(__always)
  mutating func passTime(to time: Time) {
    if machines.hasTimeout || !activeChords.isEmpty || !waitingTap.isEmpty || lockLEDs.due != nil
      || liftedShifts.due != nil
    {
      performDue(by: time)
    }
  }

  private mutating func performDue(by time: Time) {
    while let nextDue, nextDue.time <= time {
      switch nextDue.kind {
      case .shiftPressedAgain: applyShiftsPressedAgain()
      case .release: if let release = debouncer.popWaitingRelease() { endChords(by: release) }
      case .hold: send(activeChords.takeDueHold())
      case .lock: updateLocks(at: nextDue.time)
      case .tap: applyWaitingShifts()
      case .shiftTimeout:
        revocableShifts.removeAll()
        machines.send(.timedOut, at: nextDue.time)
      case .table(let machineIndex): machines.send(.timedOut, to: machineIndex, at: nextDue.time)
      }
    }
  }

  private enum Due {
    case shiftPressedAgain, release, hold, lock, tap, shiftTimeout
    case table(Int)
  }

  /// What is due first, and when; at equal times, what is considered first. Inlined: a call would
  /// copy the controller.
  @inline(__always)
  private var nextDue: (time: Time, kind: Due)? {
    var first: (time: Time, kind: Due)?
    func consider(_ time: Time?, _ kind: Due) {
      if let time, first.map({ time < $0.time }) ?? true { first = (time, kind) }
    }
    consider(liftedShifts.due, .shiftPressedAgain)
    consider(debouncer.due, .release)
    if let hold = activeChords.holdDue {
      // A release that waits for a possible bounce counts before a hold that was due after it.
      consider(hold, debouncer.waitingSince.map { $0 < hold } == true ? .release : .hold)
    }
    consider(lockLEDs.due, .lock)
    if liftedShifts.due == nil {
      if let tapDue = waitingTap.due {
        consider(tapDue, .tap)
      } else {
        consider(machines.shiftDue, .shiftTimeout)
      }
    }
    // A waiting release comes before a table's timeout that is due after the release's time.
    if let table = machines.tableDue, debouncer.waitingSince.map({ table.time <= $0 }) ?? true {
      consider(table.time, .table(table.machineIndex))
    }
    return first
  }

  // MARK: What is sent

  mutating func send(_ events: [TimedEvent]) {
    for event in events { machines.send(event.event, to: event.machineIndex, at: event.time) }
  }

  /// Sends each lock the event for what its LEDs show.
  private mutating func updateLocks(at time: Time) {
    for (lock, event) in lockLEDs.events(at: time) {
      machines.send(settings.locks.contains(lock) ? event : .ledGone, to: lock, at: time)
    }
  }

  /// Applies the releases that wait for a possible bounce, on this device or on all.
  mutating func applyWaitingReleases(on device: DeviceID? = nil) {
    while let release = debouncer.popWaitingRelease(on: device) { endChords(by: release) }
  }

  private mutating func endChords(by release: Debouncer.Release) {
    send(activeChords.end(release.key, at: release.time))
  }

  /// Applies the presses of Shift that wait for the end of their frame, and a tap whose key was
  /// released.
  mutating func applyWaitingShifts() {
    applyShiftsPressedAgain()
    guard let pressed = waitingTap.popReleasedTap() else { return }
    machines.send(.shiftPressed(at: pressed), at: pressed)
  }
}

/// The earlier of two times, either of which may be `nil`. Allocates nothing, unlike `min()` of an
/// array.
func earlier(_ first: Time?, _ second: Time?) -> Time? {
  guard let first, let second else { return first ?? second }
  return min(first, second)
}
