/// A batch of inputs, and the releases that a grab hid.
extension Controller {
  /// Takes a batch: its inputs in order, and then everything that is due by ``Batch/settled``.
  ///
  /// Before a press whose meaning depends on a held modifier, the controller takes the releases that
  /// a grab hid, which it learns from `keysUp`.
  ///
  /// - Parameters:
  ///   - keysUp: returns which of the given keys are up on a device that has no unread events.
  ///   - taken: receives every input that takes effect, hidden releases included; for recording.
  ///   - publish: receives the changes, in order.
  public mutating func take(
    _ batch: Batch, keysUp: ([KeyCode], DeviceID) -> [KeyCode], taken: ((Input) -> Void)? = nil,
    publish: (Change) -> Void
  ) {
    for index in batch.inputs.indices {
      let input = batch.inputs[index]
      if case .key(_, let event) = input, event.action == .press {
        let rest = batch.inputs[(index + 1)...]
        for release in missedReleases(before: input, followedBy: rest, keysUp: keysUp) {
          taken?(release)
          take(release, publish: publish)
        }
      }
      taken?(input)
      take(input, publish: publish)
    }
    if hasDeadlines { advance(to: batch.settled, publish: publish) }
  }

  /// The releases that a grab hid and that the controller must take before `input`.
  ///
  /// If another program grabs a device while a key is down, the device never reports the release,
  /// not even after the grab ends. So before the meaning of a press on any device depends on a held
  /// modifier, `keysUp` asks the kernel whether that modifier's key is up. The kernel reports the
  /// present state, and the press may be older: a release that is still queued, in `rest` or unread
  /// on the device, takes effect in its turn and is not a missed one.
  ///
  /// - Parameters:
  ///   - rest: the known inputs after `input`.
  ///   - keysUp: returns which of the given keys are up on a device that has no unread events.
  public func missedReleases(
    before input: Input, followedBy rest: ArraySlice<Input>,
    keysUp: ([KeyCode], DeviceID) -> [KeyCode]
  ) -> [Input] {
    guard case .key(let device, let event) = input, event.action == .press else { return [] }
    let deciding = modifiersDeciding(pressOf: event.key)
    // These modifiers are hardly ever held, so this is the common path.
    guard keys.isAnyHeld(of: deciding) else { return [] }
    return keys.devices.compactMap { other in
      guard !other.held().isDisjoint(with: deciding) else { return nil }
      let held = Modifiers.keys.filter { key in
        other.down.contains(key) && !Modifiers(of: key).isDisjoint(with: deciding)
          && (other.device != device || key != event.key)
          && !rest.contains { $0.mayRelease(key, on: other.device) }
      }
      let up = held.isEmpty ? [] : keysUp(held, other.device)
      guard !up.isEmpty else { return nil }
      let releases = up.map { KeyDifference(key: $0, isDown: false) }
      return .synchronized(other.device, releases, at: event.time)
    }
  }

  /// The modifiers on which the meaning of a press of `key` depends.
  private func modifiersDeciding(pressOf key: KeyCode) -> Modifiers {
    if key.isShift { return [] }
    if settings.bindings.usesKey(key) { return Modifiers.commands.union(.shift) }
    // Such a key types a character with and without Shift.
    return key.isCharacter ? .commands : []
  }
}
