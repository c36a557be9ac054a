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
  private static let checkInterval = Duration.milliseconds(250)

  static func check(after time: Time) -> Time {
    time.advanced(by: checkInterval) ?? Time(microseconds: .max)
  }

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
    nextCheck = nextCheck ?? Self.check(after: time)
    noteAwaitedReleases()
  }

  /// A key is pressed whose use is open: its release was not seen.
  mutating func endUses(
    pressedAgain key: KeyCode, _ index: Int, at time: Time, _ publish: (Change) -> Void
  ) {
    let device = keys[index].device
    while let open = openUses.firstIndex(where: { $0.isOf(key, device) && $0.released == nil }) {
      endUnseen(open, at: time, publish)
    }
  }

  /// A key goes down, or may have: no use of another key is a tap, and a release that waits for a
  /// bounce has waited long enough.
  mutating func endTaps(_ publish: (Change) -> Void) {
    settleReleases(publish)
    for open in openUses.indices { openUses[open].mayBeTap = false }
  }

  mutating func releaseUse(
    _ key: KeyCode, _ index: Int, at time: Time, _ publish: (Change) -> Void
  ) {
    let device = keys[index].device
    if isDebouncing {
      for open in openUses.indices
      where openUses[open].isOf(key, device) && openUses[open].released == nil {
        openUses[open].place = 1 + (openUses.map(\.place).max() ?? 0)
        openUses[open].released = time
      }
    } else {
      while let open = openUse(key, device) { end(open, at: time, publish) }
    }
  }

  /// Undoes the release of a bouncing key: it was down throughout, so a hold that became due meanwhile
  /// is sent.
  mutating func resumeUse(
    _ key: KeyCode, _ index: Int, at time: Time, _ publish: (Change) -> Void
  ) {
    let device = keys[index].device
    for open in openUses.indices where openUses[open].isOf(key, device) {
      openUses[open].released = nil
    }
    // Only the use of a press has a hold, and there is one at most.
    guard let open = openUse(key, device) else { return }
    if let due = openUses[open].holdDue, due <= time { sendHold(open, at: due, publish) }
  }

  /// Ends what waits for a possible bounce, in the order of the releases.
  mutating func settleReleases(on device: DeviceID? = nil, _ publish: (Change) -> Void) {
    while let (open, released) = earliestRelease(on: device) { end(open, at: released, publish) }
  }

  private func earliestRelease(on device: DeviceID?) -> (open: Int, released: Time)? {
    openUses.indices.filter { device == nil || openUses[$0].device == device }
      .compactMap { open in openUses[open].released.map { (open, $0) } }
      .min { ($0.1, openUses[$0.0].place) < ($1.1, openUses[$1.0].place) }
  }

  /// Ends the uses of a device that went away.
  mutating func endUses(on device: DeviceID, at time: Time, _ publish: (Change) -> Void) {
    settleReleases(on: device, publish)
    while let open = openUses.firstIndex(where: { $0.device == device }) {
      endUnseen(open, at: time, publish)
    }
  }

  /// Ends the uses whose release `next` does not bind, and returns the others as `next` binds them.
  /// They are given back to ``resume(_:)`` when `next` is in force.
  mutating func endUses(
    replacedBy next: Settings, at time: Time, _ publish: (Change) -> Void
  ) -> [OpenUse] {
    settleReleases(publish)
    var others: [OpenUse] = []
    while var use = openUses.first {
      let kept = use.uses.kept(from: settings.keyboard, by: next, use.key)
      if !kept.outlastThePress || (use.uses.release != nil && kept.release == nil) {
        endUnseen(0, at: time, publish)
      } else {
        openUses.removeFirst()
        use.uses = kept
        if kept.hold == nil { use.holdDue = nil }
        others.append(use)
      }
    }
    return others
  }

  mutating func resume(_ uses: [OpenUse], at time: Time) {
    guard !uses.isEmpty else { return }
    openUses = uses
    nextCheck = nextCheck ?? time
    noteAwaitedReleases()
  }

  /// Ends a use whose release was not seen, so it is no tap.
  private mutating func endUnseen(_ open: Int, at time: Time, _ publish: (Change) -> Void) {
    openUses[open].mayBeTap = false
    end(open, at: time, publish)
  }

  /// Ends a use by the release of its key.
  private mutating func end(_ open: Int, at time: Time, _ publish: (Change) -> Void) {
    let use = openUses.remove(at: open)
    if openUses.isEmpty { nextCheck = nil }
    noteAwaitedReleases()
    if let tap = use.uses.tap, use.mayBeTap, let pressed = use.pressed,
      time.isWithin(settings.tapTimeout, of: pressed)
    {
      send(tap, at: time, publish)
    }
    if let release = use.uses.release { send(release, at: time, publish) }
  }

  private func openUse(_ key: KeyCode, _ device: DeviceID) -> Int? {
    openUses.firstIndex { $0.isOf(key, device) }
  }

  // MARK: Time

  /// The use with the earliest deadline, and that deadline. Of those that are due at once, releases
  /// come before holds, since they have earlier times.
  var dueUse: (open: Int, due: Time)? {
    var earliest: (open: Int, due: Time, place: Int)?
    for open in openUses.indices {
      guard let due = openUses[open].deadline(debouncing: settings.debounce) else { continue }
      let place = openUses[open].released == nil ? Int.max : openUses[open].place
      if let found = earliest, (found.due, found.place) <= (due, place) { continue }
      earliest = (open, due, place)
    }
    return earliest.map { ($0.open, $0.due) }
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
    let uses = openUses[open].uses
    openUses[open].holdDue = nil
    if let event = uses.hold { send(event, at: due, publish) }
    // There is no tap after a hold. Where no release is bound, none is awaited any more.
    openUses[open].mayBeTap = false
    if uses.release == nil { end(open, at: due, publish) }
  }

  // MARK: The daemon before this one

  /// Brings ``awaitedReleases`` up to date.
  private mutating func noteAwaitedReleases() {
    revision += 1
    awaitedReleases =
      openUses.compactMap { use in
        use.uses.release.map {
          AwaitedRelease(key: use.key, event: settings.keyboard.name(ofEvent: $0))
        }
      } + inherited
  }

  /// A device was opened while these keys were down. A release that another daemon awaited belongs
  /// to the first device that holds the key.
  mutating func inherit(_ held: [KeyCode], _ index: Int) {
    guard !inherited.isEmpty else { return }
    for key in held {
      while let place = inherited.firstIndex(where: { $0.key == key }) {
        let awaited = inherited.remove(at: place)
        guard let event = settings.keyboard.event(named: awaited.event) else { continue }
        keys[index].consume(key)
        var uses = ChordUses()
        _ = uses.bind(.release, to: event)
        openUses.append(OpenUse(uses, key, on: keys[index].device, pressed: nil))
        nextCheck = Time(microseconds: .min)
        // Even if no such use is bound any more, the release may bounce.
        if isDebouncing { hasDeadlines = true }
      }
    }
    noteAwaitedReleases()
  }

  /// All present devices are open: whatever key another daemon awaited and none of them holds is up.
  mutating func releaseInherited(at time: Time, _ publish: (Change) -> Void) {
    guard !inherited.isEmpty else { return }
    let awaited = inherited
    inherited = []
    noteAwaitedReleases()
    for release in awaited {
      guard let event = settings.keyboard.event(named: release.event) else { continue }
      send(event, at: time, publish)
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
