/// The number of a key, as in the kernel's `linux/input-event-codes.h` (type `EV_KEY`).
public struct KeyCode: Hashable, Sendable {
  /// The kernel's number, 0 to ``max``.
  public let number: UInt16

  /// `KEY_MAX` of the kernel: the highest number that a key can have.
  @inlinable
  public static var max: UInt16 { 0x2ff }

  /// The key with this number, or `nil` if it is negative or above ``max``.
  public init?(_ number: some BinaryInteger) {
    guard let number = UInt16(exactly: number), number <= Self.max else { return nil }
    self.number = number
  }

  /// The key with this number, or `nil` above ``max``. Other modules can inline this.
  @inlinable
  public init?(_ number: UInt16) {
    guard number <= Self.max else { return nil }
    self.init(unchecked: number)
  }

  @usableFromInline
  init(unchecked number: UInt16) { self.number = number }
}

/// The keys that this module refers to by name.
extension KeyCode {
  static let escape = KeyCode(unchecked: 1)
  static let leftCtrl = KeyCode(unchecked: 29)
  static let leftShift = KeyCode(unchecked: 42)
  static let rightShift = KeyCode(unchecked: 54)
  static let leftAlt = KeyCode(unchecked: 56)
  static let scrollLock = KeyCode(unchecked: 70)
  static let rightCtrl = KeyCode(unchecked: 97)
  static let rightAlt = KeyCode(unchecked: 100)
  static let insert = KeyCode(unchecked: 110)
  static let leftMeta = KeyCode(unchecked: 125)
  static let rightMeta = KeyCode(unchecked: 126)
  static let compose = KeyCode(unchecked: 127)
  static let dictate = KeyCode(unchecked: 0x24a)
  static let emojiPicker = KeyCode(unchecked: 0x249)

  /// Whether this is one of the two Shift keys. The machines do not distinguish them.
  public var isShift: Bool { self == .leftShift || self == .rightShift }

  /// Whether this is Caps Lock or Num Lock.
  public var isLock: Bool { number == 58 || number == 69 }

  /// Whether this is Ctrl, left Alt, Shift or Meta.
  public var isModifier: Bool { !Modifiers(of: self).isEmpty }

  /// Whether this is the button of a pointer, such as a mouse.
  public var isPointerButton: Bool { Self.pointerButtonNumbers.contains(number) }

  // The ranges are computed, because a stored static property is checked for initialization at each
  // access.

  /// The numbers of the buttons of pointers, such as mice: `BTN_LEFT` to `BTN_TASK`. Codes of
  /// fingers, pens and tools, such as `BTN_TOUCH`, are higher.
  public static var pointerButtonNumbers: ClosedRange<UInt16> { 0x110...0x117 }

  /// The numbers of the keys that move the cursor: `KEY_HOME` to `KEY_PAGEDOWN`, with the arrows.
  static var navigationNumbers: ClosedRange<UInt16> { 102...109 }

  /// What a press of the key means if no modifier is held and the key completes no bound chord.
  /// Never ``PressMeaning/bound(_:)``.
  var meaning: PressMeaning {
    if isShift { return .shift }
    if isCharacter { return .character }
    switch number {
    case Self.navigationNumbers: return .navigation
    case Self.pointerButtonNumbers: return .button
    case Self.rightAlt.number: return .altGr
    // The codes of game pads, fingers and pens.
    case 0x100...0x15f, 0x220...0x223, 0x2c0...0x2e7: return .inert
    default: return .other
    }
  }

  /// Whether the key types a character: letters, digits, punctuation, space, the keypad (whatever
  /// NumLock says), and the extra keys of ISO, JIS and Brazilian keyboards.
  public var isCharacter: Bool { Self.characters.contains(self) }

  private static let characters: KeySet = {
    let numbers: [ClosedRange<UInt16>] = [
      2...13, 16...27, 30...41, 43...53, 55...55, 57...57, 71...83, 86...86, 89...89, 98...98,
      117...117, 121...121, 124...124, 179...180,
    ]
    return KeySet(numbers.joined().map(KeyCode.init(unchecked:)))
  }()
}
