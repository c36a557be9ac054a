/// The uses of bound chords that outlast the press: release, hold and tap.
///
///     F9   P---------------------R           F9        P: its press, R: its release
///          ^ press     ^ hold    ^ release   the events, if the chord is bound so
///
///     F10  P--R
///          ^  ^ tap, then release
///
/// A release is never lost: it is sent when the key goes up, when its device goes away, when lost
/// events are made up for, when new settings unbind it, and by the daemon after this one
/// (``Controller/Snapshot``). While one is awaited, ``Controller/take(_:keysUp:taken:publish:)`` asks
/// the kernel now and then, because the grab of another program hides a release.
extension Controller {
  /// How long after a press, and after each answer, the kernel is asked whether the key is still down.
  static let checkInterval = Duration.milliseconds(250)

  mutating func begin(
    _ uses: ChordUses, _ key: KeyCode, _ index: Int, time: Time?, stamp: Time,
    _ publish: (Change) -> Void
  ) {
    if let event = uses.press { send(event, at: stamp, publish) }
    guard uses.outlastThePress else { return }
    add(OpenUse(uses, key, on: keys[index].device, pressed: time), at: stamp)
  }

  private mutating func add(_ use: OpenUse, at time: Time) {
    openUses.append(use)
    nextCheck = nextCheck ?? time.advanced(by: Self.checkInterval)
    revision += 1
  }

  /// A key other than a bouncing one goes down: taps of other keys are none, and what waits for a
  /// bounce has waited long enough.
  mutating func endUses(
    beforePressOf key: KeyCode, _ index: Int, at time: Time, _ publish: (Change) -> Void
  ) {
    settleReleases(publish)
    let device = keys[index].device
    // Its release was not seen.
    if let open = openUse(key, device) {
      openUses[open].mayBeTap = false
      end(open, at: time, publish)
    }
    for open in openUses.indices { openUses[open].mayBeTap = false }
  }

  mutating func releaseUse(
    _ key: KeyCode, _ index: Int, at time: Time, _ publish: (Change) -> Void
  ) {
    guard let open = openUse(key, keys[index].device) else { return }
    if isDebouncing {
      openUses[open].released = time
    } else {
      end(open, at: time, publish)
    }
  }

  /// Undoes the release of a bouncing key: it was down throughout, so a hold that became due meanwhile
  /// is sent.
  mutating func resumeUse(_ key: KeyCode, _ index: Int, at time: Time, _ publish: (Change) -> Void)
  {
    guard let open = openUse(key, keys[index].device) else { return }
    openUses[open].released = nil
    if let due = openUses[open].holdDue, due <= time { sendHold(open, at: due, publish) }
  }

  /// Ends what waits for a possible bounce, in the order of the releases.
  mutating func settleReleases(_ publish: (Change) -> Void) {
    while let open = openUses.indices.filter({ openUses[$0].released != nil })
      .min(by: { releaseTime($0) < releaseTime($1) })
    {
      end(open, at: releaseTime(open), publish)
    }
  }

  private func releaseTime(_ open: Int) -> Time {
    openUses[open].released ?? Time(microseconds: .max)
  }

  /// After a loss of events, nothing is known to be a tap.
  mutating func forgetTapsOfUses(_ publish: (Change) -> Void) {
    settleReleases(publish)
    for open in openUses.indices { openUses[open].mayBeTap = false }
  }

  /// Ends the uses of a device that went away.
  mutating func endUses(on device: DeviceID, at time: Time, _ publish: (Change) -> Void) {
    while let open = openUses.firstIndex(where: { $0.device == device }) {
      if openUses[open].released == nil { openUses[open].mayBeTap = false }
      end(open, at: openUses[open].released ?? time, publish)
    }
  }

  /// Ends the uses that `settings` do not have.
  mutating func endUses(
    replacedBy settings: Settings, at time: Time, _ publish: (Change) -> Void
  ) {
    settleReleases(publish)
    let isSameTable = settings.keyboard == self.settings.keyboard
    let chords = isSameTable ? settings.bindings.chords : []
    while let open = openUses.firstIndex(where: { use in
      !chords.contains { $0.key == use.key && settings.bindings[$0] == use.uses }
    }) {
      openUses[open].mayBeTap = false
      end(open, at: time, publish)
    }
  }

  /// Ends a use by the release of its key.
  private mutating func end(_ open: Int, at time: Time, _ publish: (Change) -> Void) {
    let use = openUses.remove(at: open)
    if openUses.isEmpty { nextCheck = nil }
    revision += 1
    if let tap = use.uses.tap, use.mayBeTap, let pressed = use.pressed,
      time.isWithin(settings.tapTimeout, of: pressed)
    {
      send(tap, at: time, publish)
    }
    if let release = use.uses.release { send(release, at: time, publish) }
  }

  private func openUse(_ key: KeyCode, _ device: DeviceID) -> Int? {
    openUses.firstIndex { $0.key == key && $0.device == device }
  }

  // MARK: Time

  /// The use with the earliest deadline, and that deadline.
  var dueUse: (open: Int, due: Time)? {
    var earliest: (open: Int, due: Time)?
    for open in openUses.indices {
      guard let due = openUses[open].deadline(debouncing: settings.debounce) else { continue }
      if let found = earliest, found.due <= due { continue }
      earliest = (open, due)
    }
    return earliest
  }

  /// Sends what is due for a use: its hold, or its end if its release cannot bounce any more.
  mutating func act(on open: Int, at due: Time, _ publish: (Change) -> Void) {
    if let released = openUses[open].released {
      end(open, at: released, publish)
    } else {
      sendHold(open, at: due, publish)
    }
  }

  private mutating func sendHold(_ open: Int, at due: Time, _ publish: (Change) -> Void) {
    openUses[open].holdDue = nil
    openUses[open].mayBeTap = false
    if let event = openUses[open].uses.hold { send(event, at: due, publish) }
  }

  // MARK: The daemon before this one

  /// The releases that are awaited, for the ``Snapshot``.
  var awaitedReleases: [AwaitedRelease] {
    openUses.compactMap { use in
      use.uses.release.map {
        AwaitedRelease(key: use.key, event: settings.keyboard.name(ofEvent: $0))
      }
    } + inherited
  }

  /// A device was opened while these keys were down. A release that another daemon awaited belongs to
  /// the first device that holds the key.
  mutating func inherit(_ held: [KeyCode], _ index: Int) {
    for key in held {
      while let place = inherited.firstIndex(where: { $0.key == key }) {
        let awaited = inherited.remove(at: place)
        guard let event = settings.keyboard.event(named: awaited.event) else { continue }
        keys[index].consume(key)
        openUses.append(
          OpenUse(uses(of: key, releasing: event), key, on: keys[index].device, pressed: nil))
        nextCheck = Time(microseconds: .min)
        revision += 1
      }
    }
  }

  /// The uses of the chord whose key is `key` and whose release sends `event`.
  private func uses(of key: KeyCode, releasing event: KeyboardTable.Event) -> ChordUses {
    let bound = settings.bindings.chords.lazy.filter { $0.key == key }
      .compactMap { settings.bindings[$0] }.first { $0.release == event }
    if let bound { return bound }
    var uses = ChordUses()
    _ = uses.bind(.release, to: event)
    return uses
  }

  /// All present devices are open: whatever key another daemon awaited and none of them holds is up.
  mutating func releaseInherited(at time: Time, _ publish: (Change) -> Void) {
    guard !inherited.isEmpty else { return }
    let awaited = inherited
    inherited = []
    revision += 1
    for release in awaited {
      if let event = settings.keyboard.event(named: release.event) {
        send(event, at: time, publish)
      }
    }
  }
}

/// The release of a key that a snapshot awaits.
public struct AwaitedRelease: Hashable, Sendable {
  /// The key.
  public let key: KeyCode
  /// The name of the event that its release sends.
  public let event: String

  /// The release of `key`, which sends `event`.
  public init(key: KeyCode, event: String) { (self.key, self.event) = (key, event) }
}
