/// When a chord sends an event. Only the key whose press completed the chord counts: its release,
/// and how long it is down, whatever other keys are held by then.
public enum Timing: Hashable, Sendable {
  /// At once, when the chord is pressed.
  case press
  /// When the key is released.
  case release
  /// This long after the press, if the key is still down. Whole microseconds, above zero.
  case hold(Duration)
  /// When the key is released sooner than ``Settings/tapTimeout`` after its press, and no other key
  /// went down in between.
  case tap
}

/// The events of the keyboard machine that a chord is bound to, at most one for each timing.
public struct ChordUses: Hashable, Sendable {
  /// The event of the press.
  public internal(set) var press: KeyboardTable.Event?
  /// The event of the release.
  public internal(set) var release: KeyboardTable.Event?
  /// The event of a tap.
  public internal(set) var tap: KeyboardTable.Event?
  /// The event of a hold.
  public internal(set) var hold: KeyboardTable.Event?
  /// How long after the press a hold is sent.
  public internal(set) var holdDuration: Duration = .zero

  /// The events, in the order press, tap, hold and release.
  public var events: [(event: KeyboardTable.Event, timing: Timing)] {
    [
      press.map { ($0, .press) }, tap.map { ($0, .tap) }, hold.map { ($0, .hold(holdDuration)) },
      release.map { ($0, .release) },
    ].compactMap { $0 }
  }

  /// Whether something can follow the press.
  var hasLaterEvents: Bool { release != nil || tap != nil || hold != nil }

  /// Binds `timing` to `event` and returns `nil`. If it is bound already, changes nothing and
  /// returns its event.
  mutating func bind(_ timing: Timing, to event: KeyboardTable.Event) -> KeyboardTable.Event? {
    let place: WritableKeyPath<ChordUses, KeyboardTable.Event?> =
      switch timing {
      case .press: \.press
      case .release: \.release
      case .hold: \.hold
      case .tap: \.tap
      }
    if let bound = self[keyPath: place] { return bound }
    self[keyPath: place] = event
    if case .hold(let duration) = timing { holdDuration = duration.roundedUpToMicroseconds }
    return nil
  }

  /// All that is not bound to `event`; `nil` if nothing is left.
  func without(_ event: KeyboardTable.Event) -> ChordUses? {
    var rest = ChordUses()
    for other in events where other.event != event { _ = rest.bind(other.timing, to: other.event) }
    return rest == ChordUses() ? nil : rest
  }
}

/// The bindings of chords to events of the keyboard machine.
public struct Bindings: Hashable, Sendable {
  private var uses: [Chord: ChordUses] = [:]

  /// The keys that complete a bound chord. Cached, because every press needs it and hardly any
  /// press needs the dictionary.
  private(set) var boundKeys = KeySet()

  /// Bindings without any chord.
  public init() {}

  /// The default bindings.
  ///
  /// ScrollLock and KEY_DICTATE send `clickSwitchButton`, Menu (KEY_COMPOSE) and KEY_EMOJI_PICKER
  /// send `clickMoreButton`, Insert sends `tapTextField`, and Esc sends `tapBlankArea`.
  public static let standard: Bindings = {
    var bindings = Bindings()
    let events: [(KeyCode, KeyboardTable.Event)] = [
      (.scrollLock, .clickSwitchButton), (.dictate, .clickSwitchButton),
      (.compose, .clickMoreButton), (.emojiPicker, .clickMoreButton), (.insert, .tapTextField),
      (.escape, .tapBlankArea),
    ]
    for (key, event) in events { _ = bindings.bind(Chord([], key), to: event) }
    return bindings
  }()

  /// The events that `chord` is bound to, or `nil`.
  public subscript(chord: Chord) -> ChordUses? {
    boundKeys.contains(chord.key) ? uses[chord] : nil
  }

  /// The chords that are bound to `event`, with their timings, in the order of their keys' numbers.
  public func chords(of event: KeyboardTable.Event) -> [(chord: Chord, timing: Timing)] {
    chords.sorted {
      ($0.key.number, $0.modifiers.rawValue) < ($1.key.number, $1.modifiers.rawValue)
    }.flatMap { chord in
      (uses[chord]?.events ?? []).filter { $0.event == event }.map { (chord, $0.timing) }
    }
  }

  /// The chords that are bound, in no particular order.
  public var chords: [Chord] { Array(uses.keys) }

  /// The keys that complete a bound chord.
  public var keys: Set<KeyCode> { Set(uses.keys.map(\.key)) }

  /// Binds `chord` with a timing to `event` and returns `nil`. If that is bound already, changes
  /// nothing and returns its event. A chord can have one hold, whatever its duration.
  public mutating func bind(
    _ chord: Chord, _ timing: Timing = .press, to event: KeyboardTable.Event
  ) -> KeyboardTable.Event? {
    if let bound = uses[chord, default: ChordUses()].bind(timing, to: event) { return bound }
    boundKeys.insert(chord.key)
    return nil
  }

  /// Removes all that is bound to `event`.
  public mutating func unbind(_ event: KeyboardTable.Event) {
    uses = uses.compactMapValues { $0.without(event) }
    boundKeys = KeySet(keys)
  }
}
