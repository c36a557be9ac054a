/// The effect of key events. A key event first changes the held keys. Then the bindings give a
/// press its meaning, and the controller sends the events of the press to the machines.
extension Controller {
  @inline(__always)
  mutating func process(_ event: KeyEvent, of device: DeviceID) {
    if let key = twins.handle(event, of: device) { process(event, key) }
  }

  mutating func process(_ event: KeyEvent, _ key: DeviceKey) {
    switch event.action {
    case .press: press(key, at: event.time, inFrame: event.continuesFrame)
    case .release: release(key, at: event.time, inFrame: event.continuesFrame)
    case .autorepeat: `repeat`(key, at: event.time)
    }
  }

  /// Takes the changes of keys that were found after events were lost.
  mutating func synchronize(_ device: DeviceID, _ differences: [KeyDifference], at time: Time) {
    applyWaitingShifts()
    applyWaitingReleases()
    activeChords.endTaps()
    revocableShifts.removeAll()
    // Another key may have been pressed and released while events were lost, so the press of Shift
    // may not be a tap.
    waitingTap.forget()
    for difference in KeyDifference.inOrderOfEffect(differences) {
      let key = DeviceKey(device, difference.key)
      if difference.isDown {
        press(key, at: time, inFrame: true, wasSeen: false)
      } else {
        release(key, at: time, inFrame: true)
      }
    }
  }

  /// - Parameters:
  ///   - time: the time of a change that the press causes.
  ///   - inFrame: whether the previous event of the device is in the same frame.
  ///   - wasSeen: whether the key went down at `time`. If not, the time of the press is unknown.
  private mutating func press(
    _ key: DeviceKey, at time: Time, inFrame: Bool, wasSeen: Bool = true
  ) {
    if debouncer.undoRelease(bouncing: key, at: time) {
      return undoRelease(of: key, at: time, inFrame)
    }
    // A Shift that waits for the end of its frame went down before this key.
    if liftedShifts.isWaiting, !key.code.isShift { applyShiftsPressedAgain() }
    let held = heldKeys.press(key)
    var meaning = settings.bindings.meaning(of: key.code, held)
    if !liftedShifts.isEmpty {
      if meaning.isShift {
        let counts = liftedShifts.press(shift: key, at: time, inFrame, mayWait: wasSeen)
        guard counts else { return }
      } else if wasSeen {
        meaning = self.meaning(meaning, of: key, held, at: time, inFrame)
      }
    }
    act(meaning, key, held, at: time, inFrame, wasSeen: wasSeen)
  }

  private mutating func act(
    _ meaning: PressMeaning, _ key: DeviceKey, _ held: Modifiers, at time: Time, _ inFrame: Bool,
    wasSeen: Bool
  ) {
    if !waitingTap.isEmpty || !activeChords.isEmpty || liftedShifts.isWaiting {
      applyWaiting(beforePressOf: key, meaning, at: time, inFrame)
    }
    if !meaning.isShift, !liftedShifts.isEmpty || !meaning.isCharacter, countsAsKey(meaning) {
      liftedShifts.press(key, at: time, inFrame: inFrame, isCharacter: meaning.isCharacter)
    }
    switch meaning {
    case .shift:
      revocableShifts.forget(key)
      if !belongsToShortcut(held, at: time) { pressShift(key, at: time, wasSeen: wasSeen) }
    case .bound(let press):
      if !press.allowsAnyModifiers {
        heldKeys.noteShortcutKey(key, at: time)
        useShift(with: key, at: time)
      }
      heldKeys.noteChord(completedBy: key)
      for one in press.machineEvents {
        if let event = one.events.press { machines.send(event, to: one.machineIndex, at: time) }
        activeChords.begin(one, key, at: time, wasSeen: wasSeen)
      }
    case .character: sendCharacterTyped(at: time)
    case .navigation:
      heldKeys.noteShortcutKey(key, at: time)
      useShift(with: key, at: time)
    case .button:
      heldKeys.noteShortcutKey(key, at: time)
      if settings.pointers { useShift(with: key, at: time) }
    case .other: useShift(with: key, at: time)
    case .altGr, .inert: break
    }
  }

  /// The meaning of a press: the chord with Shift, if a Shift is lifted for the key and exactly
  /// that chord is bound; otherwise `meaning`.
  private func meaning(
    _ meaning: PressMeaning, of key: DeviceKey, _ held: Modifiers, at time: Time, _ inFrame: Bool
  ) -> PressMeaning {
    guard liftedShifts.isShifted(key, at: time, inFrame: inFrame, isCharacter: meaning.isCharacter),
      let press = settings.bindings.boundPress(of: key.code, held.union(.shift)),
      !press.allowsAnyModifiers
    else { return meaning }
    return .bound(press)
  }

  /// Applies the presses of Shift that waited for the end of their frame.
  mutating func applyShiftsPressedAgain() {
    for (shift, time) in liftedShifts.popShiftsPressedAgain() {
      act(.shift, shift, heldKeys.modifiers(without: shift), at: time, false, wasSeen: true)
    }
  }

  /// Undoes the release of a key: the key was down throughout.
  private mutating func undoRelease(of key: DeviceKey, at time: Time, _ inFrame: Bool) {
    heldKeys.undoRelease(of: key)
    heldKeys.noteShortcutKey(key, at: time)
    if key.code.isShift {
      liftedShifts.forget(key)
    } else if !liftedShifts.isEmpty {
      liftedShifts.press(key, at: time, inFrame: inFrame, isCharacter: key.code.isCharacter)
    }
    waitingTap.undoRelease(of: key)
    activeChords.undoRelease(of: key)
    // A table's timeout that waited for the release is due now, at its own time.
    passTime(to: time)
  }

  /// Applies waiting taps and releases before this press. Ends chords whose release was not seen.
  private mutating func applyWaiting(
    beforePressOf key: DeviceKey, _ meaning: PressMeaning, at time: Time, _ inFrame: Bool
  ) {
    if countsAsKey(meaning) {
      let isPressedWithTap = waitingTap.key.map {
        liftedShifts.isShifted(
          key, by: $0, at: time, inFrame: inFrame, isCharacter: meaning.isCharacter)
      }
      if isPressedWithTap != true { applyWaitingShifts() }
      waitingTap.forget()
      applyWaitingReleases()
      activeChords.endTaps()
    } else if meaning.allowsAnyModifiers {
      applyWaitingReleases()
    }
    send(activeChords.end(pressedAgain: key, at: time))
  }

  /// Whether the press counts as the press of a key. A press that completes only `Any+` chords does
  /// not. Neither does an unbound code of a game pad, a finger, a pen or, without
  /// ``Settings/pointers``, a pointer: such codes must make no difference, recorded or not.
  private func countsAsKey(_ meaning: PressMeaning) -> Bool {
    switch meaning {
    case .inert: false
    case .button: settings.pointers
    case .bound(let press): !press.allowsAnyModifiers
    case .shift, .character, .navigation, .other, .altGr: true
    }
  }

  private mutating func sendCharacterTyped(at time: Time) {
    revocableShifts.removeAll()
    machines.send(.characterTyped, at: time)
  }

  private mutating func pressShift(_ key: DeviceKey, at time: Time, wasSeen: Bool) {
    let (before, due) = (machines.shiftState, machines.shiftDue)
    switch settings.shiftTrigger {
    case .always, .press: machines.send(.shiftPressed(at: wasSeen ? time : nil), at: time)
    case .tap: if wasSeen { waitingTap.press(key, at: time) }
    }
    // After a loss the order of presses is unknown, so this press cannot be taken back.
    if settings.shiftTrigger == .press, wasSeen {
      revocableShifts.press(key, before: before, due: due)
    }
  }

  /// Takes back the revocable presses of Shift, because a key that types no character was pressed.
  /// If there are none, the key may use up Shift; see ``Settings/KeysUsingShift``.
  private mutating func useShift(with key: DeviceKey, at time: Time) {
    if let back = revocableShifts.takeBack(with: key, at: time, heldKeys, liftedShifts) {
      machines.send(.shiftUsed(returningTo: back), at: time)
    } else if settings.shiftUsedBy == .any {
      sendCharacterTyped(at: time)
    }
  }

  mutating func release(_ key: DeviceKey, at time: Time, inFrame: Bool) {
    guard heldKeys.release(key) else { return }
    debouncer.release(key, at: time)
    if key.code.isShift || !liftedShifts.isEmpty {
      liftedShifts.release(key, at: time, inFrame)
    }
    if activeChords.release(key), !debouncer.deferRelease(of: key, since: time) {
      send(activeChords.end(key, at: time))
    }
    waitingTap.release(key, at: time)
  }

  private mutating func `repeat`(_ key: DeviceKey, at time: Time) {
    heldKeys.noteRepeat(key, at: time)
    guard !heldKeys.hasCompletedChord(key),
      key.code.typesCharacter(with: heldKeys.modifiers(without: key))
    else { return }
    applyWaitingShifts()
    sendCharacterTyped(at: time)
  }

  /// Whether Shift belongs to a shortcut if it is pressed while these modifiers are held.
  private func belongsToShortcut(_ held: Modifiers, at time: Time) -> Bool {
    guard settings.shiftTrigger != .always else { return false }
    return !held.isDisjoint(with: .commandModifiers)
      || !shortcutKeys(at: time).isEmpty
  }

  /// The keys that make Shift part of a shortcut if it is pressed while they are held.
  func shortcutKeys(at time: Time) -> [DeviceKey] {
    heldKeys.shortcutKeys(at: time).filter { settings.pointers || !$0.code.isPointerButton }
  }
}

extension Controller {
  /// The meaning of a press at `time`, and the held modifiers, for callers that show both. The
  /// modifiers include a lifted Shift if that Shift decides the meaning. `nil` for a bounce, and
  /// for a press that a second node reports.
  public func meaning(
    ofPress code: KeyCode, on device: DeviceID, at time: Time, inFrame: Bool = false
  ) -> (meaning: PressMeaning, held: Modifiers)? {
    var twins = twins
    let press = KeyEvent(time: time, key: code, action: .press)
    guard let key = twins.handle(press, of: device), !debouncer.isBounce(key, at: time) else {
      return nil
    }
    let held = heldKeys.modifiers(without: key)
    let alone = settings.bindings.meaning(of: code, held)
    guard alone.isShift else {
      let meaning = meaning(alone, of: key, held, at: time, inFrame)
      return (meaning, meaning == alone ? held : held.union(.shift))
    }
    var lifted = liftedShifts
    let counts = lifted.press(shift: key, at: time, inFrame, mayWait: true)
    return (counts && !belongsToShortcut(held, at: time) ? .shift : .other, held)
  }
}
