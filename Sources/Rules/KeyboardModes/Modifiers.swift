/// The modifiers that can be part of a chord, with left and right merged.
///
/// Right Alt is not among them: on most layouts it is AltGr, which types characters.
public struct Modifiers: OptionSet, Hashable, Sendable {
  /// One bit per modifier.
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

  /// In a chord, `Any+`: any modifiers may be held. No key has this modifier.
  public static let any = Modifiers(rawValue: 128)

  /// While one of these is held, a key gives a command and types no character.
  static let commandModifiers: Modifiers = [.ctrl, .alt, .meta]

  /// The modifier of `key`; empty if `key` is not a modifier.
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

  /// The keys of ``commandModifiers``.
  static let commandKeys = keys.filter { !$0.isShift }
}
