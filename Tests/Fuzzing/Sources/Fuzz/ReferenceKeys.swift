import KeyboardModes

/// What the rules say of one event of one key.
extension Reference {
  mutating func take(
    _ key: UInt16, _ action: KeyEvent.Action, _ device: DeviceID, _ time: Time?, _ stamp: Time
  ) {
    let held = modifiers(without: key, on: device)
    let types = Keys.characters.contains(key) && held.isDisjoint(with: Keys.commands)
    switch action {
    case .press where goesOn(key, device, stamp): break
    case .press:
      press(key, device, time, stamp, held, types)
    case .release:
      guard let wasConsumed = down[device]?.removeValue(forKey: key) else { return }
      release(key, device, stamp, wasConsumed)
    case .autorepeat:
      guard down[device]?[key] != true, types else { return }
      countTap()
      openShifts = []
      send(.characterTyped, stamp)
    }
  }

  private mutating func press(
    _ key: UInt16, _ device: DeviceID, _ time: Time?, _ stamp: Time, _ held: Set<String>,
    _ types: Bool
  ) {
    let matched = rows.filter { $0.key == key && $0.modifiers == held }
    let isNothing =
      matched.isEmpty
      && (Keys.nothing.contains(key) || !settings.pointers && Keys.buttons.contains(key))
    down[device, default: [:]][key] = !matched.isEmpty
    if !isNothing {
      countTap()
      tap = nil
      endTaps()
    }
    endUses(pressedAgain: key, device, stamp)
    if Keys.modifier(key) == "shift" {
      pressShift(key, device, time, stamp, held)
    } else if !matched.isEmpty {
      useShift(stamp)
      begin(matched, key, device, time, stamp)
    } else if types {
      openShifts = []
      send(.characterTyped, stamp)
    } else if !isNothing && key != Keys.altGr {
      useShift(stamp)
    }
  }

  private mutating func release(
    _ key: UInt16, _ device: DeviceID, _ stamp: Time, _ wasConsumed: Bool
  ) {
    let mayBounce = settings.debounce > .zero
    if mayBounce {
      forgetReleases(device, stamp.microseconds)
      let release = Release(key: key, time: stamp.microseconds, wasConsumed: wasConsumed)
      releases[device, default: []].append(release)
    }
    if let place = openShifts.firstIndex(where: { $0.key == key && $0.device == device }) {
      openShifts[place].isUp = true
      if !mayBounce { openShifts.remove(at: place) }
    }
    releaseUses(key, device, stamp)
    guard var over = tap, over.key == key, over.device == device else { return }
    over.released = stamp.microseconds
    tap = isWithin(settings.tapTimeout, over.pressed, stamp.microseconds) ? over : nil
    if !mayBounce { countTap() }
  }

  /// Whether a press is a bounce, and the key what it was.
  private mutating func goesOn(_ key: UInt16, _ device: DeviceID, _ stamp: Time) -> Bool {
    forgetReleases(device, stamp.microseconds)
    guard let place = releases[device]?.firstIndex(where: { $0.key == key }) else { return false }
    down[device, default: [:]][key] = releases[device]?.remove(at: place).wasConsumed
    if tap?.key == key, tap?.device == device {
      tap?.released = nil
      letPass(stamp)
    }
    for place in openShifts.indices
    where openShifts[place].key == key && openShifts[place].device == device {
      openShifts[place].isUp = false
    }
    resumeUses(key, device, stamp)
    return true
  }

  private mutating func forgetReleases(_ device: DeviceID, _ time: Int64) {
    let debounce = settings.debounce
    let kept = releases[device, default: []].filter { isWithin(debounce, $0.time, time) }
    releases[device] = kept
  }

  private mutating func pressShift(
    _ key: UInt16, _ device: DeviceID, _ time: Time?, _ stamp: Time, _ held: Set<String>
  ) {
    // What was not seen released was released.
    openShifts.removeAll { $0.key == key && $0.device == device }
    let allDown = Set(down.values.flatMap(\.keys))
    let isShortcut =
      !held.isDisjoint(with: Keys.commands) || !allDown.isDisjoint(with: Keys.navigation)
      || settings.pointers && !allDown.isDisjoint(with: Keys.buttons)
    switch settings.shiftTrigger {
    case .always: send(.shiftPressed(at: time), stamp)
    case _ where isShortcut: break
    case .press:
      if time != nil {
        openShifts.append(OpenShift(device: device, key: key, before: shift, end: endOfShift))
      }
      send(.shiftPressed(at: time), stamp)
    case .tap:
      tap = time.map { Tap(device: device, key: key, pressed: $0.microseconds) }
    }
  }

  /// A key goes down that types no character.
  private mutating func useShift(_ stamp: Time) {
    guard let earliest = openShifts.first(where: { !$0.isUp }) else {
      guard settings.shiftUsedBy == .any else { return }
      openShifts = []
      return send(.characterTyped, stamp)
    }
    openShifts = []
    let isOver = earliest.end.map { $0 <= stamp.microseconds } ?? false
    send(.shiftUsed(back: isOver ? .off : earliest.before), stamp)
  }
}
