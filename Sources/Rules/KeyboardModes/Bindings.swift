/// When a chord sends an event. This depends only on the key whose press completed the chord: on
/// its release, and on how long it is down. The other keys of the chord may go up before.
public enum ChordTrigger: Hashable, Sendable {
  /// At once, when the chord is pressed.
  case press
  /// When the key is released.
  case release
  /// This long after the press, if the key is still down. Whole microseconds, above zero.
  case hold(Duration)
  /// When the key is released sooner than ``Settings/tapTimeout`` after its press, and no other key
  /// went down in between.
  case tap
  /// When the device whose key last completed the chord goes away, whether or not the key is down.
  case gone
}

/// The events of one machine that a chord is bound to, at most one for each trigger.
public struct ChordEvents: Hashable, Sendable {
  /// The event of the press.
  public internal(set) var press: CompiledTable.Event?
  /// The event of the release.
  public internal(set) var release: CompiledTable.Event?
  /// The event of a tap.
  public internal(set) var tap: CompiledTable.Event?
  /// The event of a device that goes away.
  public internal(set) var gone: CompiledTable.Event?
  /// The event of a hold.
  public internal(set) var hold: CompiledTable.Event?
  /// How long after the press the hold is sent; zero without a hold.
  public internal(set) var holdDuration: Duration = .zero

  /// All events with their triggers, in the order press, tap, hold, release and gone.
  public var withTriggers: [(event: CompiledTable.Event, trigger: ChordTrigger)] {
    [
      press.map { ($0, .press) }, tap.map { ($0, .tap) }, hold.map { ($0, .hold(holdDuration)) },
      release.map { ($0, .release) }, gone.map { ($0, .gone) },
    ].compactMap { $0 }
  }

  /// Whether an event can follow the event of the press, while the key is down or at its release.
  var hasLaterEvents: Bool { release != nil || tap != nil || hold != nil }

  /// Binds `trigger` to `event` and returns `nil`. If the trigger has an event already, changes
  /// nothing and returns that event.
  mutating func bind(_ trigger: ChordTrigger, to event: CompiledTable.Event) -> CompiledTable.Event?
  {
    let property: WritableKeyPath<ChordEvents, CompiledTable.Event?> =
      switch trigger {
      case .press: \.press
      case .release: \.release
      case .hold: \.hold
      case .tap: \.tap
      case .gone: \.gone
      }
    if let bound = self[keyPath: property] { return bound }
    self[keyPath: property] = event
    if case .hold(let duration) = trigger { holdDuration = duration.roundedUpToMicroseconds }
    return nil
  }

  /// These events without `event`; `nil` if nothing is left.
  func without(_ event: CompiledTable.Event) -> ChordEvents? {
    var rest = ChordEvents()
    for other in withTriggers where other.event != event {
      _ = rest.bind(other.trigger, to: other.event)
    }
    return rest == ChordEvents() ? nil : rest
  }
}

/// The events of one machine that a press sends, now or later.
public struct MachineEvents: Hashable, Sendable {
  /// The index of the machine in ``Settings/machines``.
  public let machineIndex: Int
  /// The events of the machine.
  public internal(set) var events: ChordEvents
}

/// The bindings of chords to events of the machines.
public struct Bindings: Hashable, Sendable {
  /// The events that each chord sends, in the order of the machines.
  private var eventsByChord: [Chord: [MachineEvents]] = [:]

  /// The keys that complete a bound chord. Cached, because every press needs them, and hardly any
  /// press needs the dictionary.
  private(set) var boundKeys = KeySet()

  /// Whether a chord with ``Modifiers/any`` is bound.
  private var hasChordWithAny = false

  /// Bindings without any chord.
  public init() {}

  /// The default bindings.
  ///
  /// ScrollLock and KEY_DICTATE send `clickSwitchButton`, Menu (KEY_COMPOSE) and KEY_EMOJI_PICKER
  /// send `clickMoreButton`, Insert sends `tapTextField`, and Esc sends `tapBlankArea`.
  public static let `default`: Bindings = {
    var bindings = Bindings()
    let events: [(KeyCode, CompiledTable.Event)] = [
      (.scrollLock, .clickSwitchButton), (.dictate, .clickSwitchButton),
      (.compose, .clickMoreButton), (.emojiPicker, .clickMoreButton), (.insert, .tapTextField),
      (.escape, .tapBlankArea),
    ]
    for (key, event) in events { _ = bindings.bind(Chord([], key), to: event) }
    return bindings
  }()

  /// What `chord` itself sends to a machine, by default the keyboard; `nil` if it is not bound.
  public subscript(chord: Chord, machineIndex: Int = 0) -> ChordEvents? {
    eventsByChord[chord]?.first { $0.machineIndex == machineIndex }?.events
  }

  /// What a press of `key` with these modifiers held sends to each machine: the events of the exact
  /// chord or, without such events, of the `Any+` chord. `nil` if neither chord is bound.
  @inline(__always)  // Otherwise each press would retain and release all bindings.
  func boundPress(of key: KeyCode, _ held: Modifiers) -> BoundPress? {
    guard boundKeys.contains(key) else { return nil }
    return findBoundPress(key, held)
  }

  private func findBoundPress(_ key: KeyCode, _ held: Modifiers) -> BoundPress? {
    let exact = eventsByChord[Chord(held, key)]
    guard hasChordWithAny, let any = eventsByChord[Chord(.any, key)] else {
      return exact.map { BoundPress(machineEvents: $0, allowsAnyModifiers: false) }
    }
    guard let exact else { return BoundPress(machineEvents: any, allowsAnyModifiers: true) }
    let rest = any.filter { one in !exact.contains { $0.machineIndex == one.machineIndex } }
    let all = (exact + rest).sorted { $0.machineIndex < $1.machineIndex }
    return BoundPress(machineEvents: all, allowsAnyModifiers: false)
  }

  /// The chords that are bound to `event` of a machine, with their triggers, in the order of the
  /// numbers of their keys.
  public func chords(
    of event: CompiledTable.Event, of machineIndex: Int = 0
  ) -> [(chord: Chord, trigger: ChordTrigger)] {
    chords.sorted {
      ($0.key.number, $0.modifiers.rawValue) < ($1.key.number, $1.modifiers.rawValue)
    }.flatMap { chord in
      (self[chord, machineIndex]?.withTriggers ?? []).filter { $0.event == event }.map {
        (chord, $0.trigger)
      }
    }
  }

  /// The chords that are bound, in no particular order.
  public var chords: [Chord] { Array(eventsByChord.keys) }

  /// Binds `chord` with a trigger to `event` of a machine and returns `nil`. If they are bound
  /// already, changes nothing and returns their event. A chord has at most one hold per machine.
  public mutating func bind(
    _ chord: Chord, _ trigger: ChordTrigger = .press, to event: CompiledTable.Event,
    of machineIndex: Int = 0
  ) -> CompiledTable.Event? {
    var bound = eventsByChord[chord] ?? []
    let index = bound.firstIndex { $0.machineIndex >= machineIndex } ?? bound.endIndex
    if index == bound.endIndex || bound[index].machineIndex != machineIndex {
      bound.insert(MachineEvents(machineIndex: machineIndex, events: ChordEvents()), at: index)
    }
    if let event = bound[index].events.bind(trigger, to: event) { return event }
    eventsByChord[chord] = bound
    boundKeys.insert(chord.key)
    hasChordWithAny = hasChordWithAny || chord.modifiers == .any
    return nil
  }

  /// Unbinds all chords from `event` of a machine.
  public mutating func unbind(_ event: CompiledTable.Event, of machineIndex: Int = 0) {
    eventsByChord = eventsByChord.compactMapValues { all in
      let rest = all.compactMap { one in
        one.machineIndex == machineIndex
          ? one.events.without(event).map { MachineEvents(machineIndex: machineIndex, events: $0) }
          : one
      }
      return rest.isEmpty ? nil : rest
    }
    boundKeys = KeySet(eventsByChord.keys.map(\.key))
    hasChordWithAny = eventsByChord.keys.contains { $0.modifiers == .any }
  }
}
