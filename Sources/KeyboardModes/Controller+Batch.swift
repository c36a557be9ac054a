/// A batch of inputs, and the releases that a grab hid.
extension Controller {
  /// Takes a batch: its inputs in order, and then everything that is due by ``Batch/settled``.
  ///
  /// Before a press whose meaning depends on a held modifier, and before all other inputs of its time,
  /// the controller takes the releases that a grab hid, which it learns from `keysUp`.
  ///
  /// - Parameters:
  ///   - keysUp: returns which of the given keys are up on a device that has no unread events.
  ///   - taken: receives every input that takes effect, hidden releases included; for recording.
  ///   - publish: receives the changes, in order.
  public mutating func take(
    _ batch: Batch, keysUp: ([KeyCode], DeviceID) -> [KeyCode], taken: ((Input) -> Void)? = nil,
    publish: (Change) -> Void
  ) {
    var begun: Time?
    for index in batch.inputs.indices {
      let input = batch.inputs[index]
      if case .key(_, let event) = input, event.time != begun {
        begun = event.time
        for release in missedReleases(beforeFirstOf: batch.inputs[index...], keysUp: keysUp) {
          taken?(release)
          take(release, publish: publish)
        }
      }
      taken?(input)
      take(input, publish: publish)
    }
    if let last = batch.inputs.last(where: { $0.time != nil })?.time { latest = max(latest, last) }
    if hasDeadlines { advance(to: batch.settled, publish: publish) }
    if let nextCheck, nextCheck <= batch.settled {
      // Behind all that has been taken, and before later inputs: a recording has them in this order.
      let end = max(batch.settled, latest.advanced(by: .microseconds(1)) ?? latest)
      for release in hiddenReleases(at: end, keysUp: keysUp) {
        taken?(release)
        take(release, publish: publish)
      }
      self.nextCheck = openUses.isEmpty ? nil : Self.check(after: batch.settled)
    }
  }

  /// The releases of open uses that a grab hid.
  private func hiddenReleases(
    at time: Time, keysUp: ([KeyCode], DeviceID) -> [KeyCode]
  ) -> [Input] {
    let down = openUses.filter { $0.released == nil }
    return Dictionary(grouping: down, by: \.device).sorted { $0.key < $1.key }.flatMap {
      device, uses in
      keysUp(uses.map(\.key), device).map { .missedRelease(device, $0, at: time) }
    }
  }

  /// The releases that a grab hid and that the controller must take before the first of `inputs`,
  /// which begins a time: those that any press of this time depends on, by device.
  private func missedReleases(
    beforeFirstOf inputs: ArraySlice<Input>, keysUp: ([KeyCode], DeviceID) -> [KeyCode]
  ) -> [Input] {
    guard let time = inputs.first?.time else { return [] }
    var missed: [Input] = []
    for input in inputs {
      guard case .key(_, let event) = input, event.time == time else { break }
      guard event.action == .press else { continue }
      for release in missedReleases(before: input, followedBy: inputs, keysUp: keysUp)
      where !missed.contains(release) { missed.append(release) }
    }
    guard missed.count > 1 else { return missed }
    return missed.sorted { ($0.device?.order ?? 0) < ($1.device?.order ?? 0) }
  }

  /// The releases that a grab hid and that the controller must take before `input`.
  ///
  /// If another program grabs a device while a key is down, the device never reports the release,
  /// not even after the grab ends. So before the meaning of a press on any device depends on another
  /// key that is held, `keysUp` asks the kernel whether that key is up. The kernel reports the present
  /// state, and the press may be older: a release that is still queued, in `rest` or unread on the
  /// device, takes effect in its turn and is not a missed one.
  ///
  /// - Parameters:
  ///   - rest: the known inputs after `input`.
  ///   - keysUp: returns which of the given keys are up on a device that has no unread events.
  public func missedReleases(
    before input: Input, followedBy rest: ArraySlice<Input>,
    keysUp: ([KeyCode], DeviceID) -> [KeyCode]
  ) -> [Input] {
    guard case .key(let device, let event) = input, event.action == .press,
      mayDependOnHeldKeys(pressOf: event.key)
    else { return [] }
    let deciding = keysDeciding(pressOf: event.key)
    return keys.devices.flatMap { other -> [Input] in
      let keys =
        deciding.filter(other.down.contains) + openShiftsDeciding(event.key, other.device)
      let held = keys.filter { key in
        (other.device != device || key != event.key)
          && !rest.contains { $0.mayRelease(key, on: other.device) }
      }
      let up = held.isEmpty ? [] : keysUp(held, other.device)
      return up.map { .missedRelease(other.device, $0, at: event.time) }
    }
  }

  /// Whether a key is held that may decide what a press of `key` means. There hardly ever is one, so
  /// this is what every press costs.
  private func mayDependOnHeldKeys(pressOf key: KeyCode) -> Bool {
    switch settings.bindings.kind(of: key) {
    case .character: keys.isAnyHeld(of: .commands)
    case .other: !openShifts.isEmpty
    case .inert: false
    case .special where key.isShift:
      keys.isAnyHeld(of: .commands) || keys.isNavigating(orUsingButtons: settings.pointers)
    case .special: keys.isAnyHeld(of: Modifiers.commands.union(.shift))
    }
  }

  /// The keys that decide, if they are down, what a press of `key` means.
  private func keysDeciding(pressOf key: KeyCode) -> [KeyCode] {
    if key.isShift { return settings.shiftTrigger == .always ? [] : Self.keysOfShortcuts }
    if settings.bindings.usesKey(key) { return Modifiers.keys }
    // Such a key types a character with and without Shift.
    return key.isCharacter ? Modifiers.commandKeys : []
  }

  /// The Shift keys of a device that a press of `key` would take back.
  private func openShiftsDeciding(_ key: KeyCode, _ device: DeviceID) -> [KeyCode] {
    // A bound key depends on all modifiers anyway.
    settings.bindings.kind(of: key) == .special ? [] : openShifts.keys(of: device)
  }

  private static let keysOfShortcuts =
    Modifiers.commandKeys + KeyCode.navigation + KeyCode.pointerButtons
}
