/// The active chords: those whose press a hold, a tap or a release can still follow.
///
///     F9   P---------------------R           F9        P: its press, R: its release
///          ^ press     ^ hold    ^ release   the events, where the chord has them
///
///     F10  P--R
///          ^  ^ tap, then release
///
/// The event of a release is not lost. It is sent when the key goes up or is found up, when the
/// device goes away, and when new settings unbind the event. If the daemon ends, the next daemon
/// sends it for up to six keys (``Controller/Snapshot``), if the machine has the event. While a
/// chord is active, ``Controller/handle(_:keysUp:beforeEach:)`` asks the kernel now and then if the
/// key is up, because the grab of another program hides a release.
///
/// A chord may serve several machines. When its key goes up, all events of taps are sent first, and
/// then all events of the release, each in the order of the machines.
///
/// Functions return events in the order in which they are to be sent.
struct ActiveChords: Sendable {
  /// How long after a press, and after each answer, the kernel is asked whether the key is still
  /// down.
  private static let checkInterval = Duration.milliseconds(250)

  private var tapTimeout: Duration

  /// In the order of the presses.
  private var chords: [ActiveChord] = []

  /// The last presses of chords that send an event when the device goes away, in order.
  private var chordsWithGoneEvent: [ActiveChord] = []

  /// The releases that the previous daemon awaited. So far no device holds their keys.
  private var inherited: [AwaitedRelease] = []

  /// When the kernel is asked next whether the keys of the chords are still down; `nil` if no chord
  /// is active.
  private(set) var nextCheck: Time?

  /// Counts the steps that may change the result of ``awaitedReleases(in:)``.
  private(set) var revision = 0

  /// Begins without active chords.
  init(_ settings: Settings) { tapTimeout = settings.tapTimeout }

  var isEmpty: Bool { chords.isEmpty }

  /// The releases that are awaited, with the names that `settings` has for machines and events.
  func awaitedReleases(in settings: Settings) -> [AwaitedRelease] {
    chords.compactMap { chord in
      let machine = settings.machines[chord.machineIndex]
      return chord.events.release.map {
        AwaitedRelease(
          key: chord.key.code, machine: machine.name, event: machine.table.name(ofEvent: $0))
      }
    } + inherited
  }

  // MARK: Keys

  /// Begins a chord: a press of `key` completed it, and it sends these events to a machine.
  mutating func begin(_ bound: MachineEvents, _ key: DeviceKey, at time: Time, wasSeen: Bool) {
    if let event = bound.events.gone {
      chordsWithGoneEvent.removeAll {
        ($0.machineIndex, $0.events.gone, $0.key.code) == (bound.machineIndex, event, key.code)
      }
      chordsWithGoneEvent.append(ActiveChord(bound, key, pressed: nil))
    }
    guard bound.events.hasLaterEvents else { return }
    chords.append(ActiveChord(bound, key, pressed: wasSeen ? time : nil))
    nextCheck = nextCheck ?? Self.checkTime(after: time)
    revision += 1
  }

  /// Ends the chords of a key that is pressed again: its release was not seen.
  mutating func end(pressedAgain key: DeviceKey, at time: Time) -> [TimedEvent] {
    endUnseen(at: time) { $0.key == key && !$0.isReleased }
  }

  /// Keeps active chords from becoming taps, because another key went down or may have gone down.
  mutating func endTaps() { for index in chords.indices { chords[index].tapBegan = nil } }

  /// Notes that the key is up, so no hold of the key is due any more. Returns whether the key has
  /// active chords, which stay so until ``end(_:at:)``.
  mutating func release(_ key: DeviceKey) -> Bool {
    var hasChords = false
    for index in chords.indices where chords[index].key == key && !chords[index].isReleased {
      chords[index].isReleased = true
      hasChords = true
    }
    return hasChords
  }

  /// Undoes the release of a key: the key was down throughout.
  mutating func undoRelease(of key: DeviceKey) {
    for index in chords.indices where chords[index].key == key { chords[index].isReleased = false }
  }

  // MARK: Ends

  /// Ends the chords of a key that was released at this time.
  mutating func end(_ key: DeviceKey, at time: Time) -> [TimedEvent] {
    end(at: time) { $0.key == key && $0.isReleased }
  }

  /// Ends the chords of a device that went away.
  mutating func end(on device: DeviceID, at time: Time) -> [TimedEvent] {
    let events = endUnseen(at: time) { $0.key.device == device }
    let gone = chordsWithGoneEvent.filter { $0.key.device == device }
      .sorted { $0.machineIndex < $1.machineIndex }
    chordsWithGoneEvent.removeAll { $0.key.device == device }
    return events + Self.events(\.events.gone, of: gone, at: time)
  }

  /// Rebinds the chords to `next`. Ends those that lose their release event, or all later events.
  ///
  /// - Parameter settings: the present settings; their tables have the returned events.
  mutating func rebind(
    from settings: Settings, to next: Settings, at time: Time
  ) -> [TimedEvent] {
    let events = endUnseen(at: time) { chord in
      let kept = chord.keptEvents(from: settings, by: next)?.events
      return kept?.hasLaterEvents != true || chord.events.release != nil && kept?.release == nil
    }
    for index in chords.indices {
      guard let kept = chords[index].keptEvents(from: settings, by: next) else { continue }
      (chords[index].machineIndex, chords[index].events) = (kept.machineIndex, kept.events)
      if kept.events.hold == nil { chords[index].holdDue = nil }
    }
    chordsWithGoneEvent = chordsWithGoneEvent.compactMap { chord in
      guard let kept = chord.keptEvents(from: settings, by: next), kept.events.gone != nil else {
        return nil
      }
      return ActiveChord(kept, chord.key, pressed: nil)
    }
    if !chords.isEmpty { revision += 1 }
    tapTimeout = next.tapTimeout
    return events
  }

  /// Ends chords whose release was not seen. They are no taps.
  private mutating func endUnseen(
    at time: Time, where isEnded: (ActiveChord) -> Bool
  ) -> [TimedEvent] {
    var events: [TimedEvent] = []
    while let key = chords.first(where: isEnded)?.key {
      events += end(at: time, isSeen: false) { $0.key == key && isEnded($0) }
    }
    return events
  }

  /// Ends chords of one key, because it was released.
  private mutating func end(
    at time: Time, isSeen: Bool = true, where isEnded: (ActiveChord) -> Bool
  ) -> [TimedEvent] {
    let ended = chords.filter(isEnded)
    chords.removeAll(where: isEnded)
    if chords.isEmpty { nextCheck = nil }
    revision += 1
    let tapTimeout = tapTimeout
    let taps = Self.events(
      {
        let isInTime = $0.tapBegan.map { time.isWithin(tapTimeout, of: $0) } == true
        return isSeen && isInTime ? $0.events.tap : nil
      }, of: ended, at: time)
    return taps + Self.events(\.events.release, of: ended, at: time)
  }

  /// The events that `event` returns for these chords, to be sent with this time.
  private static func events(
    _ event: (ActiveChord) -> CompiledTable.Event?, of chords: [ActiveChord], at time: Time
  ) -> [TimedEvent] {
    chords.compactMap { chord in
      event(chord).map { TimedEvent(machineIndex: chord.machineIndex, event: $0, time: time) }
    }
  }

  // MARK: Holds

  /// When a hold is due; `nil` if none is.
  var holdDue: Time? { chords.isEmpty ? nil : nextHold?.due }

  /// The hold that is due first; at equal times, the hold of the first press.
  private var nextHold: (index: Int, due: Time)? {
    chords.indices.lazy.filter { !chords[$0].isReleased }
      .compactMap { index in chords[index].holdDue.map { (index, $0) } }
      .min { $0.1 < $1.1 }
  }

  /// Removes the hold that is due first, and returns its event.
  mutating func takeDueHold() -> [TimedEvent] {
    guard let (index, due) = nextHold else { return [] }
    let chord = chords[index]
    chords[index].holdDue = nil
    // No tap can follow a hold. If no release is bound either, the chord ends here.
    chords[index].tapBegan = nil
    if chord.events.release == nil { chords.remove(at: index) }
    if chords.isEmpty { nextCheck = nil }
    revision += 1
    return Self.events(\.events.hold, of: [chord], at: due)
  }

  // MARK: The kernel

  /// The keys that have active chords and seem to be down, by device in the order of opening.
  var keysDown: [(device: DeviceID, keys: [KeyCode])] {
    var down: [DeviceKey] = []
    for chord in chords where !chord.isReleased && !down.contains(chord.key) {
      down.append(chord.key)
    }
    return Dictionary(grouping: down, by: \.device).sorted { $0.key < $1.key }
      .map { ($0.key, $0.value.map(\.code)) }
  }

  /// Notes that the kernel was asked about ``keysDown`` at `time`.
  mutating func noteCheck(at time: Time) {
    nextCheck = chords.isEmpty ? nil : Self.checkTime(after: time)
  }

  private static func checkTime(after time: Time) -> Time {
    time.advanced(by: checkInterval) ?? Time(microseconds: .max)
  }

  // MARK: The previous daemon

  /// Takes over the releases that the previous daemon awaited.
  mutating func inherit(_ releases: [AwaitedRelease]) { inherited = releases }

  /// Begins chords for the inherited releases of `held`, the keys that were down when `device` was
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
        chords.append(ActiveChord(bound, DeviceKey(device, code), pressed: nil))
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
