/// A key, with the modifiers that must be held with it: no more and no fewer.
public struct Chord: Hashable, Sendable {
  /// The modifiers that must be held.
  public let modifiers: Modifiers
  /// The key whose press completes the chord.
  public let key: KeyCode

  init(_ modifiers: Modifiers, _ key: KeyCode) {
    self.modifiers = modifiers
    self.key = key
  }

  /// Why keys do not make a chord.
  public enum Fault: Error, Hashable {
    /// No key was named.
    case empty
    /// The last key is a Shift key, which belongs to the Shift machine.
    case endsInShift
    /// A key before the last is Right Alt, which is AltGr and never a modifier here.
    case rightAltIsNotAModifier
    /// The key at this place, before the last, is not a modifier.
    case notAModifier(place: Int)
    /// The key at this place is the same modifier as one before it.
    case modifierTwice(place: Int)
  }

  /// The chord of `keys`: modifiers in any order, then the key.
  public init(_ keys: [KeyCode]) throws(Fault) {
    guard let last = keys.last else { throw .empty }
    guard !last.isShift else { throw .endsInShift }
    var modifiers: Modifiers = []
    for (place, key) in keys.dropLast().enumerated() {
      guard key != .rightAlt else { throw .rightAltIsNotAModifier }
      let modifier = Modifiers(of: key)
      guard !modifier.isEmpty else { throw .notAModifier(place: place) }
      guard !modifiers.contains(modifier) else { throw .modifierTwice(place: place) }
      modifiers.formUnion(modifier)
    }
    self.init(modifiers, last)
  }
}

/// Which chord means which event of the keyboard machine.
public struct Bindings: Hashable, Sendable {
  private var events: [Chord: KeyboardTable.Event] = [:]

  /// What is to be known of each key, by its number. Kept, because every press asks, and hardly any
  /// needs the dictionary.
  private var kinds = KeyKind.all(bound: [])

  /// No chord means anything.
  public init() {}

  /// What is bound where the user says nothing.
  ///
  /// ScrollLock and KEY_DICTATE switch, Menu (KEY_COMPOSE) and KEY_EMOJI_PICKER show more, Insert
  /// touches the text field, Esc leaves it.
  public static let standard: Bindings = {
    var bindings = Bindings()
    bindings.events = [
      Chord([], .scrollLock): .clickSwitchButton, Chord([], .dictate): .clickSwitchButton,
      Chord([], .compose): .clickMoreButton, Chord([], .emojiPicker): .clickMoreButton,
      Chord([], .insert): .tapTextField, Chord([], .escape): .tapBlankArea,
    ]
    bindings.kinds = KeyKind.all(bound: bindings.keys)
    return bindings
  }()

  /// The event that `chord` means, or `nil`.
  public subscript(chord: Chord) -> KeyboardTable.Event? {
    kind(of: chord.key) == .special ? events[chord] : nil
  }

  /// The keys that complete some chord.
  public var keys: Set<KeyCode> { Set(events.keys.map(\.key)) }

  /// Whether `key` completes some chord.
  func usesKey(_ key: KeyCode) -> Bool { !key.isShift && kind(of: key) == .special }

  /// What of `key` does not depend on the modifiers that are held.
  @inline(__always)  // Otherwise each press would retain and release all bindings.
  func kind(of key: KeyCode) -> KeyKind { kinds[Int(key.number)] }

  /// Binds `chord` to `event`.
  ///
  /// - Returns: the event that the chord means already, in which case nothing changed; otherwise
  ///   `nil`.
  public mutating func bind(
    _ chord: Chord, to event: KeyboardTable.Event
  ) -> KeyboardTable.Event? {
    if let bound = events[chord] { return bound }
    events[chord] = event
    // All kinds anew for each chord would take longer the more chords there are.
    kinds[Int(chord.key.number)] = .special
    return nil
  }

  /// Takes away every chord of `event`.
  public mutating func unbind(_ event: KeyboardTable.Event) {
    events = events.filter { $0.value != event }
    kinds = KeyKind.all(bound: keys)
  }

  /// Whether both mean the same.
  public static func == (lhs: Bindings, rhs: Bindings) -> Bool { lhs.events == rhs.events }

  /// Hashes what the chords mean.
  public func hash(into hasher: inout Hasher) { hasher.combine(events) }
}
