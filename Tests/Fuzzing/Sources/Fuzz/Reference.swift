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
  }

  private(set) var settings: Settings
  private var rows: [Row]
  private(set) var shift = ShiftRules.State.off
  private(set) var keyboard: String
  private(set) var sequence: Int64 = 0

  /// The keys that are down on each device; true for those that meant a keyboard event.
  private(set) var down: [DeviceID: [UInt16: Bool]] = [:]
  private var tap: Tap?
  private var changes: [Change] = []

  init(_ settings: Settings, _ rows: [Row]) {
    self.settings = settings
    self.rows = rows
    keyboard = settings.keyboard.name(of: settings.keyboard.initial)
  }

  /// Whether a controller that knows the states and the keys that are down knows all there is.
  var isTold: Bool { tap == nil && down.values.allSatisfy { !$0.values.contains(true) } }

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

  /// From now on these are in force.
  mutating func configure(_ settings: Settings, _ rows: [Row], at time: Time) -> [Change] {
    self.settings = settings
    self.rows = rows
    tap = nil
    changes = []
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
      for key in held { down[device, default: [:]][key.number] = false }
    case .key(let device, let event):
      take(event.key.number, event.action, device, event.time, event.time)
    case .synchronized(let device, let differences, let time):
      tap = nil
      let pressed = differences.filter(\.isDown).map(\.key.number)
      for difference in differences where !difference.isDown {
        take(difference.key.number, .release, device, nil, time)
      }
      for key in pressed where Self.modifier(key) != nil { take(key, .press, device, nil, time) }
      for key in pressed where Self.modifier(key) == nil { take(key, .press, device, nil, time) }
    case .gone(let device): down[device] = nil
    case .client(.shiftPressed, let time): send(.shiftPressed(at: time), time)
    case .client(.characterTyped, let time): send(.characterTyped, time)
    case .client(.keyboard(let event), let time): send(event, time)
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
    case .press:
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
      guard down[device]?.removeValue(forKey: key) != nil, let tap, tap.key == key,
        tap.device == device
      else { return }
      self.tap = nil
      guard isWithin(tap.timeout, tap.pressed, stamp.microseconds) else { return }
      let pressed = Time(microseconds: tap.pressed)
      send(.shiftPressed(at: pressed), pressed)
    case .autorepeat:
      if down[device]?[key] != true, isCharacter { send(.characterTyped, stamp) }
    }
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
  }

  private mutating func send(_ event: KeyboardTable.Event, _ time: Time) {
    let name = settings.keyboard.name(of: event)
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
