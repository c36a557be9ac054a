/// The effect of key events: held keys first, then bindings, then one of the machines.
extension Controller {
  mutating func process(_ event: KeyEvent, of device: DeviceID) {
    let key = DeviceKey(device, event.key)
    switch event.action {
    case .press: press(key, at: event.time, wasSeen: true)
    case .release: release(key, at: event.time)
    case .autorepeat: `repeat`(key, at: event.time)
    }
  }

  /// Takes the keys that are found to have changed after events were lost.
  mutating func synchronize(_ device: DeviceID, _ differences: [KeyDifference], at time: Time) {
    settleTap()
    send(openUses.endTaps())
    openShifts.removeAll()
    // Another key may have been pressed and released while events were lost, so the press of Shift
    // may not be a tap.
    waitingTap.forget()
    for difference in KeyDifference.inOrderOfEffect(differences) {
      let key = DeviceKey(device, difference.key)
      if difference.isDown {
        press(key, at: time, wasSeen: false)
      } else {
        release(key, at: time)
      }
    }
  }

  /// - Parameters:
  ///   - time: the time of a change that the press causes.
  ///   - wasSeen: whether the key went down at `time`. If not, it is unknown when it did.
  private mutating func press(_ key: DeviceKey, at time: Time, wasSeen: Bool) {
    guard let held = keys.press(key, at: time) else { return resume(key, at: time) }
    let meaning = settings.bindings.meaning(of: key.code, held)
    if !waitingTap.isEmpty || !openUses.isEmpty { settle(beforePressOf: key, meaning, at: time) }
    switch meaning {
    case .shift:
      openShifts.forget(key)
      if !belongsToShortcut(held) { pressShift(key, at: time, wasSeen: wasSeen) }
    case .bound(let uses):
      useShift(at: time)
      keys.consume(key)
      if let event = uses.press { machines.send(event, at: time) }
      openUses.begin(uses, key, at: time, wasSeen: wasSeen)
    case .character: typeCharacter(at: time)
    case .navigation, .other: useShift(at: time)
    case .button: if settings.pointers { useShift(at: time) }
    case .altGr, .inert: break
    }
  }

  /// Undoes the release of a key whose switch bounced: the key was down throughout.
  private mutating func resume(_ key: DeviceKey, at time: Time) {
    // This tap has not ended after all, so the timeout of `on` does not wait for it any more.
    if waitingTap.resume(key) { passTime(to: time) }
    send(openUses.resume(key, at: time))
  }

  /// Ends taps and releases that waited for this press, and a use of `key` that was never released.
  private mutating func settle(
    beforePressOf key: DeviceKey, _ meaning: PressMeaning, at time: Time
  ) {
    if isKey(meaning) {
      settleTap()
      waitingTap.forget()
      send(openUses.endTaps())
    }
    send(openUses.end(pressedAgain: key, at: time))
  }

  /// Whether the press is that of a key. Unless they are bound, the codes of game pads, fingers and
  /// pens are not keys, and neither are the buttons of pointers where pointers do not count: it
  /// must make no difference whether a device or a recording has them.
  private func isKey(_ meaning: PressMeaning) -> Bool {
    switch meaning {
    case .inert: false
    case .button: settings.pointers
    case .shift, .bound, .character, .navigation, .other, .altGr: true
    }
  }

  private mutating func typeCharacter(at time: Time) {
    openShifts.removeAll()
    machines.send(.characterTyped, at: time)
  }

  private mutating func pressShift(_ key: DeviceKey, at time: Time, wasSeen: Bool) {
    let (before, due) = (machines.shiftState, machines.shiftDue)
    switch settings.shiftTrigger {
    case .always, .press: machines.send(.shiftPressed(at: wasSeen ? time : nil), at: time)
    case .tap: if wasSeen { waitingTap.press(key, at: time) }
    }
    // After a loss the order of presses is unknown, so this one cannot be taken back.
    if settings.shiftTrigger == .press, wasSeen { openShifts.press(key, before: before, due: due) }
  }

  /// A key that types no character is pressed at `time`: takes the open presses of Shift back. If
  /// there are none, the key may use Shift up; see ``Settings/ShiftUse``.
  private mutating func useShift(at time: Time) {
    if let back = openShifts.takeBack(at: time, keys) {
      machines.send(.shiftUsed(back: back), at: time)
    } else if settings.shiftUsedBy == .any {
      typeCharacter(at: time)
    }
  }

  mutating func release(_ key: DeviceKey, at time: Time) {
    guard keys.release(key, at: time) else { return }
    if !openUses.isEmpty { send(openUses.release(key, at: time)) }
    waitingTap.release(key, at: time)
    if keys.debounce == .zero { settleTap() }
  }

  private mutating func `repeat`(_ key: DeviceKey, at time: Time) {
    guard !keys.isConsumed(key), key.code.types(with: keys.modifiers(without: key)) else { return }
    settleTap()
    typeCharacter(at: time)
  }

  /// Whether Shift belongs to a shortcut if it is pressed while these modifiers are held.
  private func belongsToShortcut(_ held: Modifiers) -> Bool {
    guard settings.shiftTrigger != .always else { return false }
    return !held.isDisjoint(with: .commands) || keys.isAnyDown(of: KeyCode.navigationNumbers)
      || settings.pointers && keys.isAnyDown(of: KeyCode.pointerButtonNumbers)
  }
}

extension Controller {
  /// What a press of `key` at `time` would mean, for callers that show it, and the modifiers that
  /// other keys hold; `nil` if the press would be a bounce of the key's switch.
  public func meaning(
    ofPress key: KeyCode, on device: DeviceID, at time: Time
  ) -> (meaning: PressMeaning, held: Modifiers)? {
    guard !keys.isBounce(DeviceKey(device, key), at: time) else { return nil }
    let held = keys.modifiers(without: DeviceKey(device, key))
    let meaning = settings.bindings.meaning(of: key, held)
    return (meaning == .shift && belongsToShortcut(held) ? .other : meaning, held)
  }
}
