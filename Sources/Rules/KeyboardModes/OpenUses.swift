/// The uses of bound chords that outlast the press: release, hold and tap.
///
///     F9   P---------------------R           F9        P: its press, R: its release
///          ^ press     ^ hold    ^ release   the events, if the chord is bound so
///
///     F10  P--R
///          ^  ^ tap, then release
///
/// The event of a release is not lost. It is sent when the key goes up, or is found up after a loss
/// of events, when its device goes away, and when new settings unbind it. If the daemon ends, the
/// next one (``Controller/Snapshot``) sends it for up to six releases, if its table has the event.
/// While a use is open, ``Controller/take(_:keysUp:taken:)`` asks the kernel now and then, because the
/// grab of another program hides a release.
///
/// Each function returns what is to be sent, in order.
struct OpenUses: Sendable {
  /// How long after a press, and after each answer, the kernel is asked whether the key is
  /// still down.
  private static let checkInterval = Duration.milliseconds(250)

  private var tapTimeout: Duration
  private var debounce: Duration

  /// In the order of the presses.
  private var uses: [OpenUse] = []

  /// The releases that the daemon before this one awaited, and whose keys no device holds so far.
  private var inherited: [AwaitedRelease] = []

  /// When the kernel is asked next whether the keys of the uses are still down; `nil` if there are
  /// none.
  private(set) var nextCheck: Time?

  /// Counts what may change the result of ``awaited(in:)``.
  private(set) var revision = 0

  /// No use is open yet. The settings give the times.
  init(_ settings: Settings) { (tapTimeout, debounce) = (settings.tapTimeout, settings.debounce) }

  var isEmpty: Bool { uses.isEmpty }

  /// The releases that are awaited, whose events are of `table`.
  func awaited(in table: KeyboardTable) -> [AwaitedRelease] {
    uses.compactMap { use in
      use.uses.release.map {
        AwaitedRelease(key: use.key.code, event: table.name(ofEvent: $0))
      }
    } + inherited
  }

  // MARK: Keys

  /// A press of `key` completed the chord of these uses.
  mutating func begin(_ uses: ChordUses, _ key: DeviceKey, at time: Time, wasSeen: Bool) {
    guard uses.hasLaterEvents else { return }
    self.uses.append(OpenUse(uses, key, pressed: wasSeen ? time : nil))
    nextCheck = nextCheck ?? Self.check(after: time)
    revision += 1
  }

  /// Ends the use of a key that is pressed again: its release was not seen.
  mutating func end(pressedAgain key: DeviceKey, at time: Time) -> [TimedEvent] {
    endUnseen(at: time) { $0.key == key && $0.released == nil }
  }

  /// Another key goes down, or may have gone down: no open use can become a tap any more, and
  /// releases do not wait for a bounce any longer.
  mutating func endTaps() -> [TimedEvent] {
    let events = settle()
    for index in uses.indices { uses[index].mayBeTap = false }
    return events
  }

  /// The key goes up. Its release acts at once or, with debouncing, once it can no longer bounce.
  mutating func release(_ key: DeviceKey, at time: Time) -> [TimedEvent] {
    for index in uses.indices where uses[index].key == key && uses[index].released == nil {
      uses[index].order = 1 + (uses.lazy.map(\.order).max() ?? 0)
      uses[index].released = time
    }
    return debounce > .zero ? [] : settle()
  }

  /// Undoes the release of a bouncing key: it was down throughout, so a hold that became due
  /// meanwhile is sent.
  mutating func resume(_ key: DeviceKey, at time: Time) -> [TimedEvent] {
    for index in uses.indices where uses[index].key == key { uses[index].released = nil }
    // A use with a hold began with a press, and a press ends all earlier uses of its key.
    guard let index = uses.firstIndex(where: { $0.key == key }), let due = uses[index].holdDue,
      due <= time
    else { return [] }
    return sendHold(index, at: due)
  }

  // MARK: Ends

  /// Ends what waits for a possible bounce, in the order of the releases.
  ///
  /// - Parameter device: whose uses end; without one, those of all devices.
  mutating func settle(on device: DeviceID? = nil) -> [TimedEvent] {
    var events: [TimedEvent] = []
    while let (index, released) = earliestRelease(on: device) {
      events += end(index, at: released)
    }
    return events
  }

  private func earliestRelease(on device: DeviceID?) -> (index: Int, released: Time)? {
    uses.indices.lazy.filter { device == nil || uses[$0].key.device == device }
      .compactMap { index in uses[index].released.map { (index, $0) } }
      .min { ($0.1, uses[$0.0].order) < ($1.1, uses[$1.0].order) }
  }

  /// Ends the uses of a device that went away.
  mutating func end(on device: DeviceID, at time: Time) -> [TimedEvent] {
    settle(on: device) + endUnseen(at: time) { $0.key.device == device }
  }

  /// Ends the uses whose release `next` does not bind, and keeps the others as `next` binds them.
  ///
  /// - Parameter table: the table of the events so far; those that are returned are of it too.
  mutating func rebind(
    from table: KeyboardTable, to next: Settings, at time: Time
  ) -> [TimedEvent] {
    let events =
      settle()
      + endUnseen(at: time) { use in
        let kept = use.kept(from: table, by: next)
        return !kept.hasLaterEvents || use.uses.release != nil && kept.release == nil
      }
    for index in uses.indices {
      uses[index].uses = uses[index].kept(from: table, by: next)
      if uses[index].uses.hold == nil { uses[index].holdDue = nil }
    }
    if !uses.isEmpty { revision += 1 }
    (tapTimeout, debounce) = (next.tapTimeout, next.debounce)
    return events
  }

  /// Ends uses whose release was not seen, so they are no taps.
  private mutating func endUnseen(
    at time: Time, where isEnded: (OpenUse) -> Bool
  ) -> [TimedEvent] {
    var events: [TimedEvent] = []
    while let index = uses.firstIndex(where: isEnded) {
      uses[index].mayBeTap = false
      events += end(index, at: time)
    }
    return events
  }

  /// Ends a use by the release of its key.
  private mutating func end(_ index: Int, at time: Time) -> [TimedEvent] {
    let use = uses.remove(at: index)
    if uses.isEmpty { nextCheck = nil }
    revision += 1
    let isTap = use.mayBeTap && use.pressed.map { time.isWithin(tapTimeout, of: $0) } == true
    return [isTap ? use.uses.tap : nil, use.uses.release].compactMap { event in
      event.map { TimedEvent(event: $0, time: time) }
    }
  }

  // MARK: Time

  /// When something is due; `nil` if nothing is.
  var due: Time? { uses.isEmpty ? nil : next?.due }

  /// The use with the earliest deadline, and that deadline. Of those with the same one, releases
  /// come before holds, since their events have earlier times.
  private var next: (index: Int, due: Time)? {
    uses.indices.lazy.compactMap { index in due(uses[index]).map { (index, $0) } }
      .min { ($0.1, order(of: $0.0)) < ($1.1, order(of: $1.0)) }
  }

  private func due(_ use: OpenUse) -> Time? {
    use.released.map { $0.advanced(by: debounce) } ?? use.holdDue
  }

  private func order(of index: Int) -> Int {
    uses[index].released == nil ? .max : uses[index].order
  }

  /// Performs what is ``due`` first: a hold, or the end of a use whose release cannot bounce
  /// any more.
  mutating func perform() -> [TimedEvent] {
    guard let (index, due) = next else { return [] }
    if let released = uses[index].released { return end(index, at: released) }
    return sendHold(index, at: due)
  }

  private mutating func sendHold(_ index: Int, at due: Time) -> [TimedEvent] {
    let bound = uses[index].uses
    let hold = bound.hold.map { TimedEvent(event: $0, time: due) }
    uses[index].holdDue = nil
    // No tap can follow a hold. If no release is bound either, the use ends here.
    uses[index].mayBeTap = false
    return [hold].compactMap { $0 } + (bound.release == nil ? end(index, at: due) : [])
  }

  // MARK: The kernel

  /// The keys of uses that are down as far as is known, by device in the order of opening.
  var keysDown: [(device: DeviceID, keys: [KeyCode])] {
    let down = uses.filter { $0.released == nil }.map(\.key)
    return Dictionary(grouping: down, by: \.device).sorted { $0.key < $1.key }
      .map { ($0.key, $0.value.map(\.code)) }
  }

  /// The kernel was asked about the ``keysDown`` at `time`.
  mutating func noteCheck(at time: Time) {
    nextCheck = uses.isEmpty ? nil : Self.check(after: time)
  }

  private static func check(after time: Time) -> Time {
    time.advanced(by: checkInterval) ?? Time(microseconds: .max)
  }

  // MARK: The daemon before this one

  /// The daemon before this one awaited these releases.
  mutating func inherit(_ releases: [AwaitedRelease]) { inherited = releases }

  /// A device was opened while these keys were down. A release that the previous daemon awaited
  /// belongs to the first device that holds the key; taps and holds do not outlast a daemon.
  ///
  /// - Returns: the keys whose release is awaited now.
  mutating func adopt(
    _ held: [KeyCode], of device: DeviceID, _ table: KeyboardTable
  ) -> [DeviceKey] {
    guard !inherited.isEmpty else { return [] }
    var adopted: [DeviceKey] = []
    for code in held {
      while let index = inherited.firstIndex(where: { $0.key == code }) {
        let awaited = inherited.remove(at: index)
        guard let event = table.event(named: awaited.event) else { continue }
        var release = ChordUses()
        _ = release.bind(.release, to: event)
        adopted.append(DeviceKey(device, code))
        uses.append(OpenUse(release, DeviceKey(device, code), pressed: nil))
        // Asked at the end of this batch.
        nextCheck = Time(microseconds: .min)
      }
    }
    revision += 1
    return adopted
  }

  /// All present devices are open: a key of an inherited release that none of them has adopted is
  /// up.
  mutating func releaseInherited(at time: Time, _ table: KeyboardTable) -> [TimedEvent] {
    guard !inherited.isEmpty else { return [] }
    revision += 1
    defer { inherited = [] }
    return inherited.compactMap { table.event(named: $0.event) }
      .map { TimedEvent(event: $0, time: time) }
  }
}
