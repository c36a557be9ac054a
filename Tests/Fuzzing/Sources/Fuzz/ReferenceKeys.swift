import KeyboardModes

/// What the rules say of one event of one key.
extension Reference {
  mutating func handle(
    _ key: UInt16, _ action: KeyEvent.Action, _ device: DeviceID, _ time: Time?, _ stamp: Time,
    isSameReport: Bool = false
  ) {
    let held = modifiers(without: key, on: device)
    let types = Keys.characters.contains(key) && held.isDisjoint(with: Keys.commands)
    switch action {
    case .press where goesOn(key, device, stamp):
      noteShortcut(key, device, stamp)
      if Keys.modifier(key) == "shift" {
        lifts.removeAll { $0.shift == key && $0.device == device }
      } else if !lifts.isEmpty {
        lift(for: key, device, stamp, isSameReport, types: Keys.characters.contains(key))
      }
      undoRelease(key, device, stamp)
    case .press:
      press(key, device, time, stamp, held, types, isSameReport)
    case .release:
      guard let wasConsumed = down[device]?.removeValue(forKey: key) else { return }
      ofShortcuts[device]?[key] = nil
      endLifts(byReleaseOf: key, device, stamp, isSameReport)
      release(key, device, stamp, wasConsumed)
    case .autorepeat:
      if ofShortcuts[device]?[key] != nil { noteShortcut(key, device, stamp) }
      guard down[device]?[key] != true, types else { return }
      countTap()
      revocableShifts = []
      send(.characterTyped, stamp)
    }
  }

  private mutating func press(
    _ key: UInt16, _ device: DeviceID, _ time: Time?, _ stamp: Time, _ held: Set<String>,
    _ types: Bool, _ isSameReport: Bool
  ) {
    if Keys.modifier(key) != "shift" { pressReturned() }
    noteShortcut(key, device, stamp)
    if Keys.modifier(key) == "shift" {
      down[device, default: [:]][key] = false
      for place in revocableShifts.indices
      where revocableShifts[place].key == key && revocableShifts[place].device == device {
        revocableShifts[place].isUp = false
      }
      if isPress(key, device, stamp, isSameReport, mayWait: time != nil) {
        act(key, device, time, stamp, held, [], types: false, isSameReport: isSameReport)
      }
      return
    }
    let alone = rows.filter { $0.key == key && $0.modifiers == held }
    let shifted = rows.filter { $0.key == key && $0.modifiers == held.union(["shift"]) }
    let isLifted = isLifted(for: device, stamp, isSameReport, types: types && alone.isEmpty)
    let matched = time != nil && isLifted && !shifted.isEmpty ? shifted : alone
    act(key, device, time, stamp, held, matched, types: types, isSameReport: isSameReport)
  }

  /// What a press does, whose chord is of these rows.
  mutating func act(
    _ key: UInt16, _ device: DeviceID, _ time: Time?, _ stamp: Time, _ held: Set<String>,
    _ matched: [Row], types: Bool, isSameReport: Bool
  ) {
    let isCharacter = types && matched.isEmpty
    let isNothing =
      matched.isEmpty
      && (Keys.nothing.contains(key) || !settings.pointers && Keys.buttons.contains(key))
    down[device, default: [:]][key] = !matched.isEmpty
    let isShift = Keys.modifier(key) == "shift"
    if !isNothing {
      let isWithTap = tap.map { tap in
        tap.device == device
          && isLifted(for: device, stamp, isSameReport, types: isCharacter, shift: tap.key)
      }
      if isWithTap != true { countTap() }
      tap = nil
      endTaps()
    }
    endChords(pressedAgain: key, device, stamp)
    if !isShift, !isNothing { lift(for: key, device, stamp, isSameReport, types: isCharacter) }
    if isShift {
      pressShift(key, device, time, stamp, held)
    } else if !matched.isEmpty {
      useShift(stamp, device)
      begin(matched, key, device, time, stamp)
    } else if types {
      revocableShifts = []
      send(.characterTyped, stamp)
    } else if !isNothing && key != Keys.altGr {
      useShift(stamp, device)
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
    if let place = revocableShifts.firstIndex(where: { $0.key == key && $0.device == device }) {
      revocableShifts[place].isUp = true
    }
    releaseChords(key, device, stamp)
    guard var over = tap, over.key == key, over.device == device else { return }
    over.released = stamp.microseconds
    tap = isWithin(settings.tapTimeout, over.pressed, stamp.microseconds) ? over : nil
  }

  /// Whether a press is a bounce, and the key what it was.
  private mutating func goesOn(_ key: UInt16, _ device: DeviceID, _ stamp: Time) -> Bool {
    forgetReleases(device, stamp.microseconds)
    guard let place = releases[device]?.firstIndex(where: { $0.key == key }) else { return false }
    down[device, default: [:]][key] = releases[device]?.remove(at: place).wasConsumed
    return true
  }

  private mutating func undoRelease(_ key: UInt16, _ device: DeviceID, _ stamp: Time) {
    if tap?.key == key, tap?.device == device {
      tap?.released = nil
      letPass(stamp)
    }
    for place in revocableShifts.indices
    where revocableShifts[place].key == key && revocableShifts[place].device == device {
      revocableShifts[place].isUp = false
    }
    resumeChords(key, device, stamp)
  }

  /// Notes when a key was pressed with which Shift is part of a shortcut.
  mutating func noteShortcut(_ key: UInt16, _ device: DeviceID, _ stamp: Time?) {
    guard Keys.navigation.contains(key) || Keys.buttons.contains(key) else { return }
    ofShortcuts[device, default: [:]].updateValue(stamp?.microseconds, forKey: key)
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
    revocableShifts.removeAll { $0.key == key && $0.device == device }
    let recent = ofShortcuts.values.flatMap { keys in
      keys.filter { key in
        key.value.map { isWithin(.seconds(30), $0, stamp.microseconds) } ?? true
      }.keys
    }
    let allDown = Set(recent)
    let isShortcut =
      !held.isDisjoint(with: Keys.commands) || !allDown.isDisjoint(with: Keys.navigation)
      || settings.pointers && !allDown.isDisjoint(with: Keys.buttons)
    switch settings.shiftTrigger {
    case .always: send(.shiftPressed(at: time), stamp)
    case _ where isShortcut: break
    case .press:
      if time != nil {
        revocableShifts.append(
          RevocableShift(device: device, key: key, before: shift, end: endOfShift))
      }
      send(.shiftPressed(at: time), stamp)
    case .tap:
      tap = time.map { Tap(device: device, key: key, pressed: $0.microseconds) }
    }
  }

  /// A key goes down that types no character.
  private mutating func useShift(_ stamp: Time, _ device: DeviceID) {
    let earliest = revocableShifts.first { shift in
      !shift.isUp
        || shift.device == device
          && isLifted(for: device, stamp, true, types: false, shift: shift.key)
    }
    guard let earliest else {
      guard settings.shiftUsedBy == .any else { return }
      revocableShifts = []
      return send(.characterTyped, stamp)
    }
    revocableShifts = []
    let isOver = earliest.end.map { $0 <= stamp.microseconds } ?? false
    send(.shiftUsed(returningTo: isOver ? .off : earliest.before), stamp)
  }
}
