import KeyboardModes

/// The design's rules for keys, written down a second time: as plainly as they read, however slow.
/// What the controller does must be what this says.
struct Reference {
  /// A chord: modifiers by their names here, and the last key; its trigger, and the event it sends.
  struct Row: Hashable {
    let modifiers: Set<String>
    let key: UInt16
    let trigger: ChordTrigger
    let event: CompiledTable.Event
  }

  /// A press of Shift that may become a tap.
  struct Tap {
    let device: DeviceID
    let key: UInt16
    let pressed: Int64
    var released: Int64?
  }

  /// A release that may be part of a bounce.
  struct Release {
    let key: UInt16
    let time: Int64
    let wasConsumed: Bool
  }

  /// A press of Shift that may be taken back.
  struct RevocableShift {
    let device: DeviceID
    let key: UInt16
    let before: ShiftRules.State
    /// When `before` would have ended.
    let end: Int64?
    var isUp = false
  }

  var settings: Settings
  var rows: [Row]
  var shift = ShiftRules.State.off
  private(set) var keyboard: String
  private(set) var sequence: Int64 = 0

  /// The keys that are down on each device; true for those that meant a keyboard event.
  var down: [DeviceID: [UInt16: Bool]] = [:]
  var tap: Tap?
  var releases: [DeviceID: [Release]] = [:]
  var revocableShifts: [RevocableShift] = []
  var lifts: [ReferenceLift] = []
  /// The last press of a key that types no character.
  var silent: (device: DeviceID, key: UInt16, time: Int64)?
  /// When the keys that move the cursor and the buttons that are down were pressed or repeated last; `nil`
  /// before the first input after their device was opened.
  var ofShortcuts: [DeviceID: [UInt16: Int64?]] = [:]
  /// In the order of their presses.
  var activeChords: [ReferenceChord] = []
  var releaseCount = 0
  /// What another daemon awaited: a key, and the name of the event of its release.
  var inherited: [(key: UInt16, event: String)] = []
  var locks = ReferenceLocks()
  /// When a press of Shift was found whose time is unknown.
  private var shiftFoundTime: Int64 = 0
  var changes: [Change] = []

  init(_ settings: Settings, _ rows: [Row]) {
    self.settings = settings
    self.rows = rows
    keyboard = settings.keyboard.name(of: settings.keyboard.initial)
  }

  /// Whether a controller that knows the states, the releases that are awaited, and the keys that are
  /// down, knows all there is.
  var isTold: Bool {
    tap == nil && revocableShifts.isEmpty && lifts.isEmpty
      && ofShortcuts.values.allSatisfy(\.isEmpty)
      && releases.values.allSatisfy(\.isEmpty)
      && inherited.isEmpty && activeChords.count < 2 && activeChords.allSatisfy(isTold)
      && down.allSatisfy { device, keys in
        keys.allSatisfy { key, bound in !bound || activeChords.contains { $0.isOf(key, device) } }
      }
  }

  /// When something is due: a tap that cannot bounce any more, and an `on` that nobody used.
  private var due: (lift: Int64?, tap: Int64?, shift: Int64?) {
    let returned = lifts.compactMap(\.returned).first
    if let end = later(returned, .microseconds(1)) { return (end, nil, nil) }
    // A tap that may be a bounce keeps the timeout waiting.
    let wait = max(settings.debounce, Self.remapping)
    if let released = later(tap?.released, wait) { return (nil, released, nil) }
    return (nil, nil, endOfShift)
  }

  /// When an unused `on` times out; `nil` if it does not, or if Shift is not `on`.
  var endOfShift: Int64? {
    guard case .on(let pressed) = shift else { return nil }
    return later(pressed?.microseconds ?? shiftFoundTime, settings.shift.timeout)
  }

  func later(_ time: Int64?, _ interval: Duration?) -> Int64? {
    guard let time, let interval else { return nil }
    let (sum, overflow) = time.addingReportingOverflow(Int64(interval / .microseconds(1)))
    return overflow ? nil : sum
  }

  /// What the controller has to say is due.
  var deadline: Time? {
    ([due.lift, due.tap, due.shift, dueOfLocks] + activeChords.map(due)).compactMap(\.self).min()
      .map(Time.init(microseconds:))
  }

  /// The changes that time makes.
  mutating func advance(to time: Time) -> [Change] {
    changes = []
    perform(by: time)
    return changes
  }

  /// What comes before an input of this time.
  mutating func letPass(_ time: Time) {
    perform(by: time)
    if locks.needsReport { tellLocks(time) }
    for (device, keys) in ofShortcuts {
      ofShortcuts[device] = keys.mapValues { $0 ?? time.microseconds }
    }
  }

  private mutating func perform(by time: Time) {
    while let next = deadline, next <= time {
      let dueChords = activeChords.indices.filter { due(activeChords[$0]) == next.microseconds }
      // Releases come before holds, in their order.
      let order = activeChords.map { $0.released == nil ? Int.max : $0.order }
      if due.lift == next.microseconds {
        pressReturned()
      } else if let place = dueChords.min(by: { order[$0] < order[$1] }) {
        actOnChord(place, next)
      } else if dueOfLocks == next.microseconds {
        tellLocks(next)
      } else if tap?.released != nil {
        countTap()
      } else {
        revocableShifts = []
        send(.timedOut, next)
      }
    }
  }

  mutating func countTap() {
    pressReturned()
    guard let tap, tap.released != nil else { return }
    self.tap = nil
    let pressed = Time(microseconds: tap.pressed)
    send(.shiftPressed(at: pressed), pressed)
  }

  /// From now on these are in force.
  ///
  /// - Returns: the changes that this makes.
  mutating func configure(_ settings: Settings, _ rows: [Row], at time: Time) -> [Change] {
    changes = []
    letPass(time)
    countTap()
    endChords(unboundBy: settings, rows, time)
    revocableShifts = []
    self.settings = settings
    self.rows = rows
    tap = nil
    if let shift = due.shift, shift <= time.microseconds { send(.timedOut, time) }
    if !settings.keyboard.stateNames.contains(keyboard) {
      let initial = settings.keyboard.name(of: settings.keyboard.initial)
      add(.keyboard, keyboard, initial, "configured", time)
      keyboard = initial
    }
    tellLocks(time)
    return changes
  }

  /// The daemon ends, and the next one knows no device.
  mutating func restart() {
    inherited = awaited + inherited
    (down, releases, activeChords, revocableShifts, tap) = ([:], [:], [], [], nil)
    (lifts, silent, ofShortcuts) = ([], nil, [:])
    locks = ReferenceLocks(all: locks.all.mapValues { ReferenceLocks.One(state: $0.state) })
  }

  /// The changes that `input` makes.
  mutating func handle(_ input: Controller.Input) -> [Change] {
    changes = []
    switch input {
    case .opened(let device, let held):
      releases[device] = nil
      revocableShifts.removeAll { $0.device == device }
      lifts.removeAll { $0.device == device }
      for key in held {
        down[device, default: [:]][key.number] = false
        noteShortcut(key.number, device, nil)
      }
      for key in held { inherit(key.number, device) }
    case .key(let device, let event):
      letPass(event.time)
      handle(
        event.key.number, event.action, device, event.time, event.time,
        isSameReport: event.continuesFrame)
    case .missedRelease(let device, let key, let time):
      letPass(time)
      handle(key.number, .release, device, time, time)
      lifts.removeAll { $0.device == device }
    case .synchronized(let device, let differences, let time):
      letPass(time)
      countTap()
      tap = nil
      endTaps()
      revocableShifts = []
      let pressed = differences.filter(\.isDown).map(\.key.number)
      for difference in differences where !difference.isDown {
        handle(difference.key.number, .release, device, nil, time, isSameReport: true)
      }
      let order: [(UInt16) -> Bool] = [
        { ![nil, "shift"].contains(Keys.modifier($0)) }, { Keys.modifier($0) == "shift" },
        { Keys.modifier($0) == nil },
      ]
      for part in order {
        for key in pressed.filter(part) {
          handle(key, .press, device, nil, time, isSameReport: true)
        }
      }
    case .gone(let device, let time):
      letPass(time)
      countTap()
      endChords(on: device, time)
      revocableShifts.removeAll { $0.device == device }
      lifts.removeAll { $0.device == device }
      (down[device], ofShortcuts[device]) = (nil, nil)
      releases[device] = nil
      locks.leds[device] = nil
      tellLocks(time)
    case .leds(let device, let report, let time):
      if let time { letPass(time) }
      locks.report(report, device)
      if let time { tellLocks(time) } else { locks.needsReport = true }
    case .allOpened(let time):
      letPass(time)
      for (_, event) in inherited { send(named: event, time) }
      inherited = []
      tellLocks(time)
    case .client(let event, let time):
      letPass(time)
      countTap()
      revocableShifts = []
      switch event {
      case .shiftPressed: send(.shiftPressed(at: time), time)
      case .characterTyped: send(.characterTyped, time)
      case .table(_, let event): send(event, time)
      }
    case .configured: fatalError("has a function of its own")
    }
    return changes
  }

  /// The modifiers that are held on any device, without the key in question on its own.
  func modifiers(without key: UInt16, on device: DeviceID) -> Set<String> {
    var held: Set<String> = []
    for (other, keys) in down {
      for number in keys.keys where other != device || number != key {
        if let modifier = Keys.modifier(number) { held.insert(modifier) }
      }
    }
    return held
  }

  func isWithin(_ interval: Duration, _ first: Int64, _ second: Int64) -> Bool {
    let difference = (Int128(second) - Int128(first)).magnitude
    let (seconds, attoseconds) = interval.components
    return Int128(difference) * 1_000_000_000_000
      < Int128(seconds) * 1_000_000_000_000_000_000 + Int128(attoseconds)
  }

  mutating func send(_ event: ShiftRules.Event, _ time: Time) {
    guard let next = settings.shift.next(shift, on: event) else { return }
    if case .shiftPressed(nil) = event { shiftFoundTime = time.microseconds }
    if shift.name != next.name {
      add(.shift, shift.name, next.name, event.name, time)
    }
    shift = next
  }

  mutating func send(_ event: CompiledTable.Event, _ time: Time) {
    let name = settings.keyboard.name(ofEvent: event)
    guard
      let row = settings.keyboard.rows.first(where: { $0.state == keyboard && $0.event == name })
    else { return }
    add(.keyboard, keyboard, row.next, name, time)
    keyboard = row.next
  }

  mutating func send(named name: String, _ time: Time) {
    if let event = settings.keyboard.event(named: name) { send(event, time) }
  }

  mutating func add(
    _ machine: MachineName, _ from: String, _ to: String, _ event: String, _ time: Time
  ) {
    sequence += 1
    changes.append(
      Change(sequence: sequence, time: time, machine: machine, from: from, to: to, event: event))
  }
}
