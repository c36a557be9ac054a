/// The modifiers that can be part of a chord, with left and right merged.
///
/// Right Alt is not among them: it is AltGr on most layouts of the world and types characters.
public struct Modifiers: OptionSet, Hashable, Sendable {
  /// One bit a modifier.
  public let rawValue: UInt8

  /// The modifiers whose bits are set in `rawValue`.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Either Ctrl key.
  public static let ctrl = Modifiers(rawValue: 1)
  /// The left Alt key.
  public static let alt = Modifiers(rawValue: 2)
  /// Either Shift key.
  public static let shift = Modifiers(rawValue: 4)
  /// Either Meta (Super, Windows, Command) key.
  public static let meta = Modifiers(rawValue: 8)

  /// With one of these held a key is a command, not a character.
  static let commands: Modifiers = [.ctrl, .alt, .meta]

  /// The modifier that `key` is, or none.
  public init(of key: KeyCode) {
    self =
      switch key {
      case .leftCtrl, .rightCtrl: .ctrl
      case .leftAlt: .alt
      case .leftShift, .rightShift: .shift
      case .leftMeta, .rightMeta: .meta
      default: []
      }
  }

  static let keys: [KeyCode] = [
    .leftCtrl, .rightCtrl, .leftAlt, .leftShift, .rightShift, .leftMeta, .rightMeta,
  ]
}
