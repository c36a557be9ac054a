/// The open uses of chords: presses that a hold, a tap or a release can still follow.
///
///     F9   P---------------------R           F9        P: its press, R: its release
///          ^ press     ^ hold    ^ release   the events, where the chord has them
///
///     F10  P--R
///          ^  ^ tap, then release
///
/// The event of a release is not lost. It is sent when the key goes up or is found up, when the
/// device goes away, and when new settings unbind the event. If the daemon ends, the next daemon
/// sends it for up to six keys (``Controller/Snapshot``), if the machine has the event. While a use
/// is open, ``Controller/handle(_:keysUp:beforeEach:)`` asks the kernel now and then whether the
/// key is up, because the grab of another program hides a release.
///
/// A chord may serve several machines. When its key goes up, all events of taps are sent first, and
/// then all events of the release, each in the order of the machines.
///
/// Functions return events in the order in which they are to be sent.
struct OpenUses: Sendable {
  /// How long after a press, and after each answer, the kernel is asked whether the key is still
  /// down.
  private static let checkInterval = Duration.milliseconds(250)

  private var tapTimeout: Duration

  /// In the order of the presses.
  private var uses: [OpenUse] = []

  /// The last presses of chords that send an event when the device goes away, in order.
  private var goneUses: [OpenUse] = []

  /// The releases that the previous daemon awaited. So far no device holds their keys.
  private var inherited: [AwaitedRelease] = []

  /// When the kernel is asked next whether the keys of the uses are still down; `nil` if no use is
  /// open.
  private(set) var nextCheck: Time?

  /// Counts the steps that may change the result of ``awaitedReleases(in:)``.
  private(set) var revision = 0

  /// Begins without open uses.
  init(_ settings: Settings) { tapTimeout = settings.tapTimeout }

  var isEmpty: Bool { uses.isEmpty }

  /// The releases that are awaited, with the names that `settings` has for machines and events.
  func awaitedReleases(in settings: Settings) -> [AwaitedRelease] {
    uses.compactMap { use in
      let machine = settings.machines[use.machineIndex]
      return use.events.release.map {
        AwaitedRelease(
          key: use.key.code, machine: machine.name, event: machine.table.name(ofEvent: $0))
      }
    } + inherited
  }

  // MARK: Keys

  /// Opens a use, because a press of `key` completed a chord that sends these events to a machine.
  mutating func begin(_ bound: MachineEvents, _ key: DeviceKey, at time: Time, wasSeen: Bool) {
    if let event = bound.events.gone {
      goneUses.removeAll {
        ($0.machineIndex, $0.events.gone, $0.key.code) == (bound.machineIndex, event, key.code)
      }
      goneUses.append(OpenUse(bound, key, pressed: nil))
    }
    guard bound.events.hasLaterEvents else { return }
    uses.append(OpenUse(bound, key, pressed: wasSeen ? time : nil))
    nextCheck = nextCheck ?? Self.checkTime(after: time)
    revision += 1
  }

  /// Ends the use of a key that is pressed again: its release was not seen.
  mutating func end(pressedAgain key: DeviceKey, at time: Time) -> [TimedEvent] {
    endUnseen(at: time) { $0.key == key && !$0.isReleased }
  }

  /// Keeps open uses from becoming taps, because another key went down or may have gone down.
  mutating func endTaps() { for index in uses.indices { uses[index].tapBegan = nil } }

  /// Notes that the key is up, so no hold of the key is due any more. Returns whether the key has
  /// uses, which stay open until ``end(_:at:)``.
  mutating func release(_ key: DeviceKey) -> Bool {
    var hasUses = false
    for index in uses.indices where uses[index].key == key && !uses[index].isReleased {
      uses[index].isReleased = true
      hasUses = true
    }
    return hasUses
  }

  /// Undoes the release of a key: the key was down throughout.
  mutating func undoRelease(of key: DeviceKey) {
    for index in uses.indices where uses[index].key == key { uses[index].isReleased = false }
  }

  // MARK: Ends

  /// Ends the uses of a key that was released at this time.
  mutating func end(_ key: DeviceKey, at time: Time) -> [TimedEvent] {
    end(at: time) { $0.key == key && $0.isReleased }
  }

  /// Ends the uses of a device that went away.
  mutating func end(on device: DeviceID, at time: Time) -> [TimedEvent] {
    let events = endUnseen(at: time) { $0.key.device == device }
    let gone = goneUses.filter { $0.key.device == device }
      .sorted { $0.machineIndex < $1.machineIndex }
    goneUses.removeAll { $0.key.device == device }
    return events + Self.events(\.events.gone, of: gone, at: time)
  }

  /// Rebinds the uses to `next`. Ends uses that lose their release event, or all later events.
  ///
  /// - Parameter settings: the present settings; their tables have the returned events.
  mutating func rebind(
    from settings: Settings, to next: Settings, at time: Time
  ) -> [TimedEvent] {
    let events = endUnseen(at: time) { use in
      let kept = use.keptEvents(from: settings, by: next)?.events
      return kept?.hasLaterEvents != true || use.events.release != nil && kept?.release == nil
    }
    for index in uses.indices {
      guard let kept = uses[index].keptEvents(from: settings, by: next) else { continue }
      (uses[index].machineIndex, uses[index].events) = (kept.machineIndex, kept.events)
      if kept.events.hold == nil { uses[index].holdDue = nil }
    }
    goneUses = goneUses.compactMap { use in
      guard let kept = use.keptEvents(from: settings, by: next), kept.events.gone != nil else {
        return nil
      }
      return OpenUse(kept, use.key, pressed: nil)
    }
    if !uses.isEmpty { revision += 1 }
    tapTimeout = next.tapTimeout
    return events
  }

  /// Ends uses whose release was not seen. They are no taps.
  private mutating func endUnseen(
    at time: Time, where isEnded: (OpenUse) -> Bool
  ) -> [TimedEvent] {
    var events: [TimedEvent] = []
    while let key = uses.first(where: isEnded)?.key {
      events += end(at: time, isSeen: false) { $0.key == key && isEnded($0) }
    }
    return events
  }

  /// Ends uses of one key, because it was released.
  private mutating func end(
    at time: Time, isSeen: Bool = true, where isEnded: (OpenUse) -> Bool
  ) -> [TimedEvent] {
    let ended = uses.filter(isEnded)
    uses.removeAll(where: isEnded)
    if uses.isEmpty { nextCheck = nil }
    revision += 1
    let tapTimeout = tapTimeout
    let taps = Self.events(
      {
        let isInTime = $0.tapBegan.map { time.isWithin(tapTimeout, of: $0) } == true
        return isSeen && isInTime ? $0.events.tap : nil
      }, of: ended, at: time)
    return taps + Self.events(\.events.release, of: ended, at: time)
  }

  /// The events that `event` returns for these uses, to be sent with this time.
  private static func events(
    _ event: (OpenUse) -> CompiledTable.Event?, of uses: [OpenUse], at time: Time
  ) -> [TimedEvent] {
    uses.compactMap { use in
      event(use).map { TimedEvent(machineIndex: use.machineIndex, event: $0, time: time) }
    }
  }

  // MARK: Holds

  /// When a hold is due; `nil` if none is.
  var holdDue: Time? { uses.isEmpty ? nil : nextHold?.due }

  /// The hold that is due first; at equal times, the hold of the first press.
  private var nextHold: (index: Int, due: Time)? {
    uses.indices.lazy.filter { !uses[$0].isReleased }
      .compactMap { index in uses[index].holdDue.map { (index, $0) } }
      .min { $0.1 < $1.1 }
  }

  /// Removes the hold that is due first, and returns its event.
  mutating func takeDueHold() -> [TimedEvent] {
    guard let (index, due) = nextHold else { return [] }
    let use = uses[index]
    uses[index].holdDue = nil
    // No tap can follow a hold. If no release is bound either, the use ends here.
    uses[index].tapBegan = nil
    if use.events.release == nil { uses.remove(at: index) }
    if uses.isEmpty { nextCheck = nil }
    revision += 1
    return Self.events(\.events.hold, of: [use], at: due)
  }

  // MARK: The kernel

  /// The keys that have uses and seem to be down, by device in the order of opening.
  var keysDown: [(device: DeviceID, keys: [KeyCode])] {
    var down: [DeviceKey] = []
    for use in uses where !use.isReleased && !down.contains(use.key) { down.append(use.key) }
    return Dictionary(grouping: down, by: \.device).sorted { $0.key < $1.key }
      .map { ($0.key, $0.value.map(\.code)) }
  }

  /// Notes that the kernel was asked about ``keysDown`` at `time`.
  mutating func noteCheck(at time: Time) {
    nextCheck = uses.isEmpty ? nil : Self.checkTime(after: time)
  }

  private static func checkTime(after time: Time) -> Time {
    time.advanced(by: checkInterval) ?? Time(microseconds: .max)
  }

  // MARK: The previous daemon

  /// Takes over the releases that the previous daemon awaited.
  mutating func inherit(_ releases: [AwaitedRelease]) { inherited = releases }

  /// Opens uses for the inherited releases of `held`, the keys that were down when `device` was
  /// opened. Each release belongs to the first device that holds its key. Taps and holds do not
  /// outlast a daemon.
  ///
  /// - Returns: the keys whose release is awaited now.
  mutating func adopt(
    _ held: [KeyCode], of device: DeviceID, _ settings: Settings
  ) -> [DeviceKey] {
    guard !inherited.isEmpty else { return [] }
    var adopted: [DeviceKey] = []
    for code in held {
      while let index = inherited.firstIndex(where: { $0.key == code }) {
        let release = inherited.remove(at: index)
        guard let (machineIndex, event) = settings.event(release) else { continue }
        var events = ChordEvents()
        _ = events.bind(.release, to: event)
        let bound = MachineEvents(machineIndex: machineIndex, events: events)
        adopted.append(DeviceKey(device, code))
        uses.append(OpenUse(bound, DeviceKey(device, code), pressed: nil))
        // The kernel is asked at the end of this batch.
        nextCheck = Time(microseconds: .min)
      }
    }
    revision += 1
    return adopted
  }

  /// Removes the inherited releases that no device adopted, and returns their events. Call this
  /// once all present devices are open.
  mutating func releaseInherited(at time: Time, _ settings: Settings) -> [TimedEvent] {
    guard !inherited.isEmpty else { return [] }
    revision += 1
    defer { inherited = [] }
    return inherited.compactMap(settings.event)
      .map { TimedEvent(machineIndex: $0, event: $1, time: time) }
  }
}

extension Settings {
  /// The index of the machine and the event of an awaited release; `nil` if the settings lack one.
  fileprivate func event(_ awaited: AwaitedRelease) -> (Int, CompiledTable.Event)? {
    machines.firstIndex { $0.name == awaited.machine }.flatMap { index in
      machines[index].table.event(named: awaited.event).map { (index, $0) }
    }
  }
}
