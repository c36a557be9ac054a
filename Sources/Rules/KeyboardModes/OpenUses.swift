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
/// next one (``Controller/Snapshot``) sends it for up to six keys, if the machine has the event.
/// While a use is open, ``Controller/take(_:keysUp:taken:)`` asks the kernel now and then, because the
/// grab of another program hides a release.
///
/// A chord may serve several machines. Its release first ends the taps of all, and then sends the releases
/// of all, each in the order of the machines.
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

  /// The chords whose machine is told when a device goes away, in the order of their last presses.
  private var goneUses: [GoneUse] = []

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

  /// When the first release was that waits for a possible bounce; `nil` if none waits.
  var waitingSince: Time? { uses.isEmpty ? nil : uses.lazy.compactMap(\.released).min() }

  /// The releases that are awaited; their events are those of these settings.
  func awaited(in settings: Settings) -> [AwaitedRelease] {
    uses.compactMap { use in
      let machine = settings.machines[use.machine]
      return use.uses.release.map {
        AwaitedRelease(
          key: use.key.code, machine: machine.name, event: machine.table.name(ofEvent: $0))
      }
    } + inherited
  }

  // MARK: Keys

  /// A press of `key` completed the chord of these uses.
  mutating func begin(_ uses: MachineUses, _ key: DeviceKey, at time: Time, wasSeen: Bool) {
    if let event = uses.uses.gone {
      goneUses.removeAll {
        ($0.machine, $0.event, $0.key.code) == (uses.machine, event, key.code)
      }
      goneUses.append(GoneUse(machine: uses.machine, event: event, key: key))
    }
    guard uses.uses.hasLaterEvents else { return }
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
    let order = 1 + (uses.lazy.map(\.order).max() ?? 0)
    for index in uses.indices where uses[index].key == key && uses[index].released == nil {
      (uses[index].order, uses[index].released) = (order, time)
    }
    return debounce > .zero ? [] : settle()
  }

  /// Undoes the release of a bouncing key: it was down throughout, so a hold that became due
  /// meanwhile is sent.
  mutating func resume(_ key: DeviceKey, at time: Time) -> [TimedEvent] {
    for index in uses.indices where uses[index].key == key { uses[index].released = nil }
    var events: [TimedEvent] = []
    while let (index, due) = next, uses[index].released == nil, due <= time {
      events += sendHold(index, at: due)
    }
    return events
  }

  // MARK: Ends

  /// Ends what waits for a possible bounce, in the order of the releases.
  ///
  /// - Parameter device: whose uses end; without one, those of all devices.
  mutating func settle(on device: DeviceID? = nil) -> [TimedEvent] {
    var events: [TimedEvent] = []
    while let (key, released) = earliestRelease(on: device) {
      events += end(at: released) { $0.key == key && $0.released == released }
    }
    return events
  }

  private func earliestRelease(on device: DeviceID?) -> (key: DeviceKey, released: Time)? {
    uses.lazy.filter { device == nil || $0.key.device == device }
      .compactMap { use in use.released.map { (use.key, $0, use.order) } }
      .min { ($0.1, $0.2) < ($1.1, $1.2) }
      .map { ($0.0, $0.1) }
  }

  /// Ends the uses of a device that went away.
  mutating func end(on device: DeviceID, at time: Time) -> [TimedEvent] {
    let events = settle(on: device) + endUnseen(at: time) { $0.key.device == device }
    let gone = goneUses.filter { $0.key.device == device }.sorted { $0.machine < $1.machine }
    goneUses.removeAll { $0.key.device == device }
    return events + gone.map { TimedEvent(machine: $0.machine, event: $0.event, time: time) }
  }

  /// Ends the uses whose release `next` does not bind, and keeps the others as `next` binds them.
  ///
  /// - Parameter settings: those so far; the events that are returned are of them too.
  mutating func rebind(
    from settings: Settings, to next: Settings, at time: Time
  ) -> [TimedEvent] {
    let events =
      settle()
      + endUnseen(at: time) { use in
        let kept = use.kept(from: settings, by: next)?.uses
        return kept?.hasLaterEvents != true || use.uses.release != nil && kept?.release == nil
      }
    for index in uses.indices {
      guard let kept = uses[index].kept(from: settings, by: next) else { continue }
      (uses[index].machine, uses[index].uses) = (kept.machine, kept.uses)
      if kept.uses.hold == nil { uses[index].holdDue = nil }
    }
    goneUses = goneUses.compactMap { use in
      var uses = ChordUses()
      _ = uses.bind(.gone, to: use.event)
      let open = OpenUse(MachineUses(machine: use.machine, uses: uses), use.key, pressed: nil)
      guard let kept = open.kept(from: settings, by: next), let event = kept.uses.gone else {
        return nil
      }
      return GoneUse(machine: kept.machine, event: event, key: use.key)
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
    while let key = uses.first(where: isEnded)?.key {
      for index in uses.indices where uses[index].key == key && isEnded(uses[index]) {
        uses[index].mayBeTap = false
      }
      events += end(at: time) { $0.key == key && isEnded($0) }
    }
    return events
  }

  /// Ends uses of one key by its release.
  private mutating func end(at time: Time, where isEnded: (OpenUse) -> Bool) -> [TimedEvent] {
    let ended = uses.filter(isEnded)
    uses.removeAll(where: isEnded)
    if uses.isEmpty { nextCheck = nil }
    revision += 1
    func events(_ event: (OpenUse) -> StateTable.Event?) -> [TimedEvent] {
      ended.compactMap { use in
        event(use).map { TimedEvent(machine: use.machine, event: $0, time: time) }
      }
    }
    let taps = events { use in
      let isTap = use.mayBeTap && use.pressed.map { time.isWithin(tapTimeout, of: $0) } == true
      return isTap ? use.uses.tap : nil
    }
    return taps + events(\.uses.release)
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
    let key = uses[index].key
    guard let released = uses[index].released else { return sendHold(index, at: due) }
    return end(at: released) { $0.key == key && $0.released == released }
  }

  private mutating func sendHold(_ index: Int, at due: Time) -> [TimedEvent] {
    let use = uses[index]
    uses[index].holdDue = nil
    // No tap can follow a hold. If no release is bound either, the use ends here.
    uses[index].mayBeTap = false
    if use.uses.release == nil { uses.remove(at: index) }
    if uses.isEmpty { nextCheck = nil }
    revision += 1
    return use.uses.hold.map { [TimedEvent(machine: use.machine, event: $0, time: due)] } ?? []
  }

  // MARK: The kernel

  /// The keys of uses that are down as far as is known, by device in the order of opening.
  var keysDown: [(device: DeviceID, keys: [KeyCode])] {
    var down: [DeviceKey] = []
    for use in uses where use.released == nil && !down.contains(use.key) { down.append(use.key) }
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
    _ held: [KeyCode], of device: DeviceID, _ settings: Settings
  ) -> [DeviceKey] {
    guard !inherited.isEmpty else { return [] }
    var adopted: [DeviceKey] = []
    for code in held {
      while let index = inherited.firstIndex(where: { $0.key == code }) {
        guard let (machine, event) = settings.event(inherited.remove(at: index)) else { continue }
        var release = ChordUses()
        _ = release.bind(.release, to: event)
        adopted.append(DeviceKey(device, code))
        uses.append(
          OpenUse(
            MachineUses(machine: machine, uses: release), DeviceKey(device, code), pressed: nil))
        // Asked at the end of this batch.
        nextCheck = Time(microseconds: .min)
      }
    }
    revision += 1
    return adopted
  }

  /// All present devices are open: a key of an inherited release that none of them has adopted is
  /// up.
  mutating func releaseInherited(at time: Time, _ settings: Settings) -> [TimedEvent] {
    guard !inherited.isEmpty else { return [] }
    revision += 1
    defer { inherited = [] }
    return inherited.compactMap(settings.event)
      .map { TimedEvent(machine: $0.machine, event: $0.event, time: time) }
  }
}

extension Settings {
  /// The event of an awaited release; `nil` if these settings lack the machine or the event.
  fileprivate func event(_ awaited: AwaitedRelease) -> (machine: Int, event: StateTable.Event)? {
    machines.firstIndex { $0.name == awaited.machine }.flatMap { machine in
      machines[machine].table.event(named: awaited.event).map { (machine, $0) }
    }
  }
}
