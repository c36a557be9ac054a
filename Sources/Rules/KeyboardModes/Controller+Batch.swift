/// A batch of inputs, and the releases that a grab hid.
extension Controller {
  /// Handles a batch: its inputs in order, and then all that is due by ``Batch/noInputBefore``.
  ///
  /// Also handles the releases that a grab hid. Before all inputs of one time, asks `keysUp` about
  /// the keys that decide what a press at that time means. At ``nextCheck``, asks about the keys
  /// of active chords.
  ///
  /// - Parameters:
  ///   - keysUp: returns which of the given keys are up on a device that has no unread events.
  ///   - beforeEach: receives every input that takes effect, hidden releases too, and the
  ///     controller before the input; for recording, and to show what a press means.
  @discardableResult
  public mutating func handle(
    _ batch: Batch, keysUp: ([KeyCode], DeviceID) -> [KeyCode],
    beforeEach: ((Controller, Input) -> Void)? = nil
  ) -> [Change] {
    machines.forgetChanges()
    var begun: Time?
    for index in batch.inputs.indices {
      let input = batch.inputs[index]
      if let time = input.time, time != begun {
        begun = time
        latestTime = max(latestTime, time)
        process(missedReleases(beforeAllOf: time, in: batch.inputs[index...], keysUp), beforeEach)
      }
      beforeEach?(self, input)
      process(input)
    }
    passTime(to: batch.noInputBefore)
    if let nextCheck, nextCheck <= batch.noInputBefore {
      // The time is after all inputs so far and before later ones, because recordings sort by time.
      let end = max(batch.noInputBefore, latestTime.advanced(by: .microseconds(1)) ?? latestTime)
      process(missedReleasesOfActiveChords(at: end, keysUp: keysUp), beforeEach)
      activeChords.noteCheck(at: batch.noInputBefore)
    }
    return machines.changes
  }

  private mutating func process(_ releases: [Input], _ beforeEach: ((Controller, Input) -> Void)?) {
    for release in releases {
      beforeEach?(self, release)
      process(release)
    }
  }

  /// The releases of active chords that a grab hid.
  private func missedReleasesOfActiveChords(
    at time: Time, keysUp: ([KeyCode], DeviceID) -> [KeyCode]
  ) -> [Input] {
    activeChords.keysDown.flatMap { twins.holders(of: $1, on: $0) }.flatMap { device, keys in
      keysUp(keys, device).map { .missedRelease(device, $0, at: time) }
    }
  }

  /// The releases that a grab hid and that decide a press at `time`, sorted by device. They come
  /// before `inputs`, which begin at this time. Inlined: a call would copy the controller.
  @inline(__always)
  private func missedReleases(
    beforeAllOf time: Time, in inputs: ArraySlice<Input>,
    _ keysUp: ([KeyCode], DeviceID) -> [KeyCode]
  ) -> [Input] {
    var missed: [Input] = []
    for input in inputs {
      guard input.time == time else { break }
      for release in missedReleases(before: input, among: inputs, keysUp: keysUp)
      where !missed.contains(release) { missed.append(release) }
    }
    return missed.isEmpty ? [] : missed.sorted { ($0.device?.order ?? 0) < ($1.device?.order ?? 0) }
  }

  /// The releases that a grab hid and that the controller must handle before `input`.
  ///
  /// If another program grabs a device while a key is down, the device never reports the release,
  /// not even after the grab ends. So if the meaning of a press depends on another held key, on any
  /// device, `keysUp` first asks the kernel whether that key is up. The kernel reports the present
  /// state, and the press may be older. So a release that is still queued, in `inputs` or unread on
  /// the device, takes effect in its turn and does not count as missed.
  ///
  /// - Parameters:
  ///   - inputs: `input`, and all other known inputs of its time or later.
  ///   - keysUp: returns which of the given keys are up on a device that has no unread events.
  @inline(__always)
  func missedReleases(
    before input: Input, among inputs: ArraySlice<Input>,
    keysUp: ([KeyCode], DeviceID) -> [KeyCode]
  ) -> [Input] {
    guard case .key(let device, let event) = input, event.action == .press else { return [] }
    return heldKeys.devices.flatMap { held in
      twins.holders(of: keysDeciding(pressOf: event.key, at: event.time, held), on: held.device)
    }.flatMap { other, keys -> [Input] in
      let held = keys.filter { key in
        (other != device || key != event.key)
          && !inputs.contains { $0.mayRelease(key, on: other) }
      }
      let up = held.isEmpty ? [] : keysUp(held, other)
      return up.map { .missedRelease(other, $0, at: event.time) }
    }
  }

  /// The keys that are down on `device` and decide what a press of `key` means.
  private func keysDeciding(
    pressOf key: KeyCode, at time: Time, _ device: DeviceKeys
  ) -> [KeyCode] {
    let deciding: [KeyCode]
    switch key.meaning {
    case _ where settings.bindings.boundKeys.contains(key): deciding = Modifiers.keys
    // Shift decides nothing: the key types a character with it and without it.
    case .character: deciding = Modifiers.commandKeys
    case .navigation, .button, .other: deciding = revocableShifts.keys(of: device.device)
    case .altGr, .inert, .bound: return []
    case .shift where settings.shiftTrigger == .always: return []
    case .shift:
      // Filters first, so that this allocates no memory unless such a key is down.
      return Modifiers.commandKeys.filter(device.down.contains)
        + shortcutKeys(at: time).filter { $0.device == device.device }.map(\.code)
    }
    return deciding.filter(device.down.contains)
  }
}
