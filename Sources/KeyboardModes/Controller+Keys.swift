/// The effect of key events: held keys first, then bindings, then one of the machines.
extension Controller {
  mutating func take(_ event: KeyEvent, _ index: Int, _ publish: (Change) -> Void) {
    if hasDeadlines { advance(to: event.time, publish: publish) }
    switch event.action {
    case .press: press(event.key, index, time: event.time, stamp: event.time, publish)
    case .release: release(event.key, index, at: event.time, publish)
    case .autorepeat: `repeat`(event.key, index, at: event.time, publish)
    }
  }

  mutating func take(
    _ differences: [KeyDifference], _ index: Int, at time: Time, _ publish: (Change) -> Void
  ) {
    if hasDeadlines { advance(to: time, publish: publish) }
    settleTap(publish)
    endTaps(publish)
    openShifts.removeAll()
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
      // The key was down throughout, so its press may still become a tap. A timeout that waited for it
      // is over.
      if tap?.isPress(of: key, keys[index].device) == true {
        tap?.released = nil
        advance(to: stamp, publish: publish)
      }
      openShifts.resume(key, keys[index].device)
      resumeUse(key, index, at: stamp, publish)
      return
    }
    let held = keys.modifiersHeld(without: key, index)
    let meaning = settings.bindings.meaning(of: key, held)
    keys[index].press(key)
    if tap != nil || !openUses.isEmpty {
      settle(beforePressOf: key, meaning, index, stamp, publish)
    }
    switch meaning {
    case .shift:
      openShifts.forget(key, keys[index].device)
      guard !belongsToShortcut(held) else { return }
      pressShift(key, index, time: time, stamp: stamp, publish)
    case .bound(let uses):
      takeShiftBack(at: stamp, publish)
      keys[index].consume(key)
      begin(uses, key, index, time: time, stamp: stamp, publish)
    case .character: typeCharacter(at: stamp, publish)
    case .other: if isKey(key, meaning) { takeShiftBack(at: stamp, publish) }
    case .inert: break
    }
  }

  /// Ends what waited to learn whether another key is pressed.
  private mutating func settle(
    beforePressOf key: KeyCode, _ meaning: PressMeaning, _ index: Int, _ stamp: Time,
    _ publish: (Change) -> Void
  ) {
    if isKey(key, meaning) {
      settleTap(publish)
      tap = nil
      endTaps(publish)
    }
    endUses(pressedAgain: key, index, at: stamp, publish)
  }

  /// Whether the press is that of a key. Unless they are bound, the codes of game pads, fingers and
  /// pens are none, and neither are the buttons of pointers where pointers do not count: it must make
  /// no difference whether a device or a recording has them.
  private func isKey(_ key: KeyCode, _ meaning: PressMeaning) -> Bool {
    switch meaning {
    case .inert: key == .rightAlt
    case .other: settings.pointers || !key.isPointerButton
    case .shift, .bound, .character: true
    }
  }

  private mutating func typeCharacter(at time: Time, _ publish: (Change) -> Void) {
    if !openShifts.isEmpty { openShifts.removeAll() }
    send(.characterTyped, at: time, publish)
  }

  private mutating func pressShift(
    _ key: KeyCode, _ index: Int, time: Time?, stamp: Time, _ publish: (Change) -> Void
  ) {
    switch settings.shiftTrigger {
    case .always: send(.shiftPressed(at: time), at: stamp, publish)
    case .press:
      let before = shift.state
      send(.shiftPressed(at: time), at: stamp, publish)
      // What is found down after a loss may have gone down in any order.
      if time != nil { openShifts.press(key, keys[index].device, before: before) }
    case .tap:
      guard let time else { return }  // how long it was held will not be known
      tap = TapCandidate(device: keys[index].device, key: key, pressed: time)
    }
  }

  private mutating func release(
    _ key: KeyCode, _ index: Int, at time: Time, _ publish: (Change) -> Void
  ) {
    let wasDown =
      isDebouncing
      ? keys[index].release(key, at: time, settings.debounce) : keys[index].release(key)
    guard wasDown else { return }
    if !openShifts.isEmpty {
      openShifts.release(key, keys[index].device, mayBounce: isDebouncing)
    }
    if !openUses.isEmpty { releaseUse(key, index, at: time, publish) }
    guard let tap, tap.isPress(of: key, keys[index].device) else { return }
    guard time.isWithin(settings.tapTimeout, of: tap.pressed) else { return self.tap = nil }
    self.tap?.released = time
    if !isDebouncing { settleTap(publish) }
  }

  private mutating func `repeat`(
    _ key: KeyCode, _ index: Int, at time: Time, _ publish: (Change) -> Void
  ) {
    guard !keys[index].isConsumed(key), key.types(with: keys.modifiersHeld(without: key, index))
    else { return }
    settleTap(publish)
    typeCharacter(at: time, publish)
  }
}
