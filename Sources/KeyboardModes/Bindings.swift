/// A key and the exact set of modifiers that must be held with it.
public struct Chord: Hashable, Sendable {
  /// The modifiers that must be held.
  public let modifiers: Modifiers
  /// The key whose press completes the chord.
  public let key: KeyCode

  init(_ modifiers: Modifiers, _ key: KeyCode) {
    (self.modifiers, self.key) = (modifiers, key)
  }

  /// Why keys do not make a chord.
  public enum Fault: Error, Hashable {
    /// No key was named.
    case empty
    /// The last key is a Shift key, which belongs to the Shift machine.
    case endsInShift
    /// A key before the last is Right Alt, which is AltGr and never a modifier here.
    case rightAltIsNotAModifier
    /// The key at this index, before the last key, is not a modifier.
    case notAModifier(index: Int)
    /// The key at this index is the same modifier as an earlier key.
    case modifierTwice(index: Int)
  }

  /// The chord of `keys`: modifiers in any order, then the key. Throws the first fault found.
  public init(_ keys: [KeyCode]) throws(Fault) {
    guard let last = keys.last else { throw .empty }
    guard !last.isShift else { throw .endsInShift }
    var modifiers: Modifiers = []
    for (index, key) in keys.dropLast().enumerated() {
      guard key != .rightAlt else { throw .rightAltIsNotAModifier }
      let modifier = Modifiers(of: key)
      guard !modifier.isEmpty else { throw .notAModifier(index: index) }
      guard !modifiers.contains(modifier) else { throw .modifierTwice(index: index) }
      modifiers.formUnion(modifier)
    }
    self.init(modifiers, last)
  }

  /// The chord of the same modifiers with another key, which is no Shift key.
  public func with(_ key: KeyCode) -> Chord {
    precondition(!key.isShift, "Shift belongs to the Shift machine")
    return Chord(modifiers, key)
  }
}

/// The bindings of chords to events of the keyboard machine.
public struct Bindings: Hashable, Sendable {
  private var events: [Chord: KeyboardTable.Event] = [:]

  /// The kind of each key, indexed by its number. Cached, because every press needs it and hardly
  /// any press needs the dictionary.
  private var kinds = KeyKind.all(bound: [])

  /// Bindings without any chord.
  public init() {}

  /// The default bindings.
  ///
  /// ScrollLock and KEY_DICTATE send `clickSwitchButton`, Menu (KEY_COMPOSE) and KEY_EMOJI_PICKER
  /// send `clickMoreButton`, Insert sends `tapTextField`, and Esc sends `tapBlankArea`.
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

  /// The event that `chord` is bound to, or `nil`.
  public subscript(chord: Chord) -> KeyboardTable.Event? {
    kind(of: chord.key) == .special ? events[chord] : nil
  }

  /// The chords that are bound to `event`, by the numbers of their keys.
  public func chords(of event: KeyboardTable.Event) -> [Chord] {
    events.filter { $0.value == event }.keys.sorted {
      ($0.key.number, $0.modifiers.rawValue) < ($1.key.number, $1.modifiers.rawValue)
    }
  }

  /// The keys that complete a bound chord.
  public var keys: Set<KeyCode> { Set(events.keys.map(\.key)) }

  /// Whether `key` completes a bound chord.
  func usesKey(_ key: KeyCode) -> Bool { !key.isShift && kind(of: key) == .special }

  /// The part of the meaning of `key` that does not depend on the held modifiers.
  @inline(__always)  // Otherwise each press would retain and release all bindings.
  func kind(of key: KeyCode) -> KeyKind { kinds[Int(key.number)] }

  /// Binds `chord` to `event` and returns `nil`, unless it is bound already: then nothing changes,
  /// and its event is returned.
  public mutating func bind(_ chord: Chord, to event: KeyboardTable.Event) -> KeyboardTable.Event? {
    if let bound = events[chord] { return bound }
    events[chord] = event
    // Recomputing all kinds here would take longer with each chord that is bound.
    kinds[Int(chord.key.number)] = .special
    return nil
  }

  /// Removes every chord bound to `event`.
  public mutating func unbind(_ event: KeyboardTable.Event) {
    events = events.filter { $0.value != event }
    kinds = KeyKind.all(bound: keys)
  }

  /// Whether both bind the same chords to the same events.
  public static func == (lhs: Bindings, rhs: Bindings) -> Bool { lhs.events == rhs.events }

  /// Hashes the chords and their events.
  public func hash(into hasher: inout Hasher) { hasher.combine(events) }
}
