/// An event to send to a machine, and the time that its change will have.
struct TimedEvent: Hashable, Sendable {
  /// The index of the machine in ``Settings/machines``.
  let machineIndex: Int
  let event: CompiledTable.Event
  let time: Time
}

/// A press that completed a chord of one machine, while a tap, a hold, a release or the loss of its
/// device may still send an event.
struct ActiveChord: Sendable {
  let key: DeviceKey
  /// The index of the machine in ``Settings/machines``.
  var machineIndex: Int
  var events: ChordEvents
  /// When the key went down, if the release can still be a tap.
  var tapBegan: Time?
  /// When the hold is due; `nil` if there is none, or if it has been sent.
  var holdDue: Time?
  /// Whether the key is up, and its release has not ended the chord yet.
  var isReleased = false

  /// - Parameter pressed: when the key went down; `nil` if that is unknown.
  init(_ bound: MachineEvents, _ key: DeviceKey, pressed: Time?) {
    (self.key, machineIndex, events, tapBegan) = (key, bound.machineIndex, bound.events, pressed)
    holdDue = events.hold == nil ? nil : pressed?.advanced(by: events.holdDuration)
  }

  /// The events of this chord that `next` binds too, to the same key with the same trigger; `nil`
  /// if there are none. Events with the same name are the same.
  func keptEvents(from settings: Settings, by next: Settings) -> MachineEvents? {
    let name = settings.machines[machineIndex].name
    guard let other = next.machines.firstIndex(where: { $0.name == name }) else { return nil }
    let bound = next.bindings.chords.filter { $0.key == key.code }
      .compactMap { next.bindings[$0, other] }
    var kept = ChordEvents()
    for (old, trigger) in events.withTriggers {
      let event = settings.machines[machineIndex].table.name(ofEvent: old)
      guard let event = next.machines[other].table.event(named: event),
        bound.contains(where: {
          $0.withTriggers.contains { $0.event == event && $0.trigger == trigger }
        })
      else { continue }
      _ = kept.bind(trigger, to: event)
    }
    return kept == ChordEvents() ? nil : MachineEvents(machineIndex: other, events: kept)
  }
}
