import KeyboardModes

/// The design's rules for keys, written down a second time: as plainly as they read, however slow.
/// What the controller does must be what this says.
struct Reference {
  /// A chord: modifiers by their names here, the last key, and what it means.
  struct Row {
    let modifiers: Set<String>
    let key: UInt16
    let event: KeyboardTable.Event
  }

  private struct Tap {
    let device: DeviceID
    let key: UInt16
    let pressed: Int64
    let timeout: Duration
    var released: Int64?
  }

  private struct Release {
    let key: UInt16
    let time: Int64
    let wasConsumed: Bool
  }

  private(set) var settings: Settings
  private var rows: [Row]
  private(set) var shift = ShiftRules.State.off
  private(set) var keyboard: String
  private(set) var sequence: Int64 = 0

  /// The keys that are down on each device; true for those that meant a keyboard event.
  private(set) var down: [DeviceID: [UInt16: Bool]] = [:]
  private var tap: Tap?
  private var releases: [DeviceID: [Release]] = [:]
  private var shiftSince: Int64 = 0
  private var changes: [Change] = []

  init(_ settings: Settings, _ rows: [Row]) {
    self.settings = settings
    self.rows = rows
    keyboard = settings.keyboard.name(of: settings.keyboard.initial)
  }

  /// Whether a controller that knows the states and the keys that are down knows all there is.
  var isTold: Bool {
    tap == nil && releases.values.allSatisfy(\.isEmpty)
      && down.values.allSatisfy { !$0.values.contains(true) }
  }

  static func modifier(_ key: UInt16) -> String? {
    switch key {
    case 29, 97: "ctrl"
    case 56: "alt"
    case 42, 54: "shift"
    case 125, 126: "meta"
    default: nil
    }
  }

  private static let characters: Set<UInt16> = Set(
    [
      2...13, 16...27, 30...41, 43...53, 55...55, 57...57, 71...83, 86...86, 89...89, 98...98,
      117...117, 121...121, 124...124, 179...180,
    ].joined())

  /// When something is due: a tap that cannot bounce any more, and an `on` that nobody used.
  private var due: (tap: Int64?, shift: Int64?) {
    func later(_ time: Int64?, _ interval: Duration?) -> Int64? {
      guard let time, let interval else { return nil }
      let (sum, overflow) = time.addingReportingOverflow(Int64(interval / .microseconds(1)))
      return overflow ? nil : sum
    }
    let since = if case .on = shift { shiftSince } else { Int64?.none }
    return (later(tap?.released, settings.debounce), later(since, settings.shift.timeout))
  }

  /// What the controller has to say is due.
  var deadline: Time? {
    [due.tap, due.shift].compactMap { $0 }.min().map(Time.init(microseconds:))
  }

  /// The changes that time makes.
  mutating func advance(to time: Time) -> [Change] {
    changes = []
    letPass(time)
    return changes
  }

  private mutating func letPass(_ time: Time) {
    if let deadline, deadline <= time { countTap() }
    if let shift = due.shift, shift <= time.microseconds {
      send(.timedOut, Time(microseconds: shift))
    }
  }

  private mutating func countTap() {
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
    self.settings = settings
    self.rows = rows
    tap = nil
    if let shift = due.shift, shift <= time.microseconds { send(.timedOut, time) }
    if !settings.keyboard.stateNames.contains(keyboard) {
      let initial = settings.keyboard.name(of: settings.keyboard.initial)
      add(.keyboard, keyboard, initial, "configured", time)
      keyboard = initial
    }
    return changes
  }

  /// The changes that `input` makes.
  mutating func take(_ input: Controller.Input) -> [Change] {
    changes = []
    switch input {
    case .opened(let device, let held):
      releases[device] = nil
      for key in held { down[device, default: [:]][key.number] = false }
    case .key(let device, let event):
      letPass(event.time)
      take(event.key.number, event.action, device, event.time, event.time)
    case .synchronized(let device, let differences, let time):
      letPass(time)
      countTap()
      tap = nil
      let pressed = differences.filter(\.isDown).map(\.key.number)
      for difference in differences where !difference.isDown {
        take(difference.key.number, .release, device, nil, time)
      }
      for key in pressed where Self.modifier(key) != nil { take(key, .press, device, nil, time) }
      for key in pressed where Self.modifier(key) == nil { take(key, .press, device, nil, time) }
    case .gone(let device, _):
      countTap()
      down[device] = nil
      releases[device] = nil
    case .client(let event, let time):
      letPass(time)
      countTap()
      switch event {
      case .shiftPressed: send(.shiftPressed(at: time), time)
      case .characterTyped: send(.characterTyped, time)
      case .keyboard(let event): send(event, time)
      }
    case .configured: fatalError("has a function of its own")
    }
    return changes
  }

  private mutating func take(
    _ key: UInt16, _ action: KeyEvent.Action, _ device: DeviceID, _ time: Time?, _ stamp: Time
  ) {
    let held = modifiers(without: key, on: device)
    let isCharacter =
      Self.characters.contains(key) && held.isDisjoint(with: ["ctrl", "alt", "meta"])
    switch action {
    case .press where goesOn(key, device, stamp.microseconds): break
    case .press:
      countTap()
      let row = rows.first { $0.key == key && $0.modifiers == held }
      down[device, default: [:]][key] = row != nil
      tap = nil
      if Self.modifier(key) == "shift" {
        press(key, device, time, stamp)
      } else if let row {
        send(row.event, stamp)
      } else if isCharacter {
        send(.characterTyped, stamp)
      }
    case .release:
      guard let wasConsumed = down[device]?.removeValue(forKey: key) else { return }
      if settings.debounce > .zero {
        forgetReleases(device, stamp.microseconds)
        let release = Release(key: key, time: stamp.microseconds, wasConsumed: wasConsumed)
        releases[device, default: []].append(release)
      }
      guard var over = tap, over.key == key, over.device == device else { return }
      over.released = stamp.microseconds
      tap = isWithin(over.timeout, over.pressed, stamp.microseconds) ? over : nil
      if settings.debounce == .zero { countTap() }
    case .autorepeat:
      guard down[device]?[key] != true, isCharacter else { return }
      countTap()
      send(.characterTyped, stamp)
    }
  }

  /// Whether a press is a bounce, and the key what it was.
  private mutating func goesOn(_ key: UInt16, _ device: DeviceID, _ time: Int64) -> Bool {
    forgetReleases(device, time)
    guard let place = releases[device]?.firstIndex(where: { $0.key == key }) else { return false }
    down[device, default: [:]][key] = releases[device]?.remove(at: place).wasConsumed
    if tap?.key == key, tap?.device == device { tap?.released = nil }
    return true
  }

  private mutating func forgetReleases(_ device: DeviceID, _ time: Int64) {
    let debounce = settings.debounce
    let kept = releases[device, default: []].filter { isWithin(debounce, $0.time, time) }
    releases[device] = kept
  }

  private mutating func press(_ key: UInt16, _ device: DeviceID, _ time: Time?, _ stamp: Time) {
    switch settings.shiftTrigger {
    case .press: send(.shiftPressed(at: time), stamp)
    case .tap(let timeout):
      tap = time.map { Tap(device: device, key: key, pressed: $0.microseconds, timeout: timeout) }
    }
  }

  /// The modifiers that are held on any device, without the key in question on its own.
  private func modifiers(without key: UInt16, on device: DeviceID) -> Set<String> {
    var held: Set<String> = []
    for (other, keys) in down {
      for number in keys.keys where other != device || number != key {
        if let modifier = Self.modifier(number) { held.insert(modifier) }
      }
    }
    return held
  }

  private func isWithin(_ interval: Duration, _ first: Int64, _ second: Int64) -> Bool {
    let difference = (Int128(second) - Int128(first)).magnitude
    let (seconds, attoseconds) = interval.components
    return Int128(difference) * 1_000_000_000_000
      < Int128(seconds) * 1_000_000_000_000_000_000 + Int128(attoseconds)
  }

  private mutating func send(_ event: ShiftRules.Event, _ time: Time) {
    guard let next = settings.shift.next(shift, on: event) else { return }
    add(.shift, shift.name, next.name, event.name, time)
    shift = next
    shiftSince = time.microseconds
  }

  private mutating func send(_ event: KeyboardTable.Event, _ time: Time) {
    let name = settings.keyboard.name(ofEvent: event)
    guard
      let row = settings.keyboard.rows.first(where: { $0.state == keyboard && $0.event == name })
    else { return }
    add(.keyboard, keyboard, row.next, name, time)
    keyboard = row.next
  }

  private mutating func add(
    _ machine: Machine, _ from: String, _ to: String, _ event: String, _ time: Time
  ) {
    sequence += 1
    changes.append(
      Change(sequence: sequence, time: time, machine: machine, from: from, to: to, event: event))
  }
}
