/// A key and the modifiers that must be held with it: exactly these, or any.
public struct Chord: Hashable, Sendable {
  /// The modifiers that must be held, and no others; ``Modifiers/any`` if any may be held.
  public let modifiers: Modifiers
  /// The key whose press completes the chord.
  public let key: KeyCode

  init(_ modifiers: Modifiers, _ key: KeyCode) {
    (self.modifiers, self.key) = (modifiers, key)
  }

  /// The chord of `keys`: modifiers in any order, then the key. Throws the first error found.
  ///
  /// - Parameter allowsAnyModifiers: whether any modifiers may be held; `keys` is then one key.
  public init(_ keys: [KeyCode], allowsAnyModifiers: Bool = false) throws(ChordError) {
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
    guard !allowsAnyModifiers || modifiers.isEmpty else { throw .modifierWithAny }
    self.init(allowsAnyModifiers ? .any : modifiers, last)
  }
}

/// Why keys do not make a chord.
public enum ChordError: Error, Hashable {
  /// No key was named.
  case empty
  /// The last key is a Shift key, which belongs to the Shift machine.
  case endsInShift
  /// A key before the last is Right Alt, which is AltGr and never a modifier here.
  case rightAltIsNotAModifier
  /// The key at this index, before the last key, is not a modifier.
  case notAModifier(index: Int)
  /// A modifier is named although any may be held.
  case modifierWithAny
  /// The key at this index is the same modifier as an earlier key.
  case modifierTwice(index: Int)
}
