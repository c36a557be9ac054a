public import KeyboardModes
import Terminal

/// Short names of keys, such as `F9`, `Scroll_Lock` and `Super`: the kernel's names without `KEY_`,
/// and names that people know from keyboards and desktops. Case and underscores do not matter.
extension KeyCode {
  /// The key that `text` names: a name of the kernel, `KEY_F9`, a short name, `F9`, or the number
  /// of a key without a name, `0x2e8`. Case does not matter. `nil` if no key has this name.
  public init?(writtenAs text: String) {
    // No other character may pass for a letter of ASCII, as the Kelvin sign would for K.
    guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    let capitals = text.uppercased()
    let key =
      Self.isKernelName(text)
      ? KeyCode(name: capitals)
      : Self.shortNames[folded(text)] ?? KeyCode(name: "KEY_\(capitals)") ?? Self.unnamed(text)
    guard let key else { return nil }
    self = key
  }

  /// A name for people, which ``init(writtenAs:)`` reads as this key: a short name; the kernel's
  /// if there is no short one, `BTN_LEFT`; or the number of a key without a name, `0x2e8`.
  public var shortName: String {
    kernelName.map(KeyName.short) ?? "0x\(padded(number, 3, radix: 16, "0"))"
  }

  /// The names of all keys that the kernel's header had when libevdev was built.
  public static let allNames = kernelNames.map(\.name)

  /// All short names: those of the keys that have one, and the aliases.
  public static let allShortNames =
    kernelNames.map { KeyName.short(ofKernelName: $0.name) }.filter { !isKernelName($0) }
    + KeyName.aliases.map(\.name)

  /// Whether `text` has the form of a kernel's name.
  public static func isKernelName(_ text: String) -> Bool {
    let start = text.utf8.prefix(4).map { $0 >= UInt8(ascii: "a") ? $0 & ~0x20 : $0 }
    return start == Array("KEY_".utf8) || start == Array("BTN_".utf8)
  }

  /// The key of a character that keyboards with the US layout type without Shift: `Period` for `.`;
  /// `nil` for others, because they depend on the layout.
  public init?(character: Character) {
    guard let name = KeyName.characters[character], let key = KeyCode(name: name) else {
      return nil
    }
    self = key
  }

  /// The key whose number is written as `0x2e8`, if it has no name.
  private static func unnamed(_ text: String) -> KeyCode? {
    let text = text.lowercased()
    guard text.hasPrefix("0x"), let number = UInt16(text.dropFirst(2), radix: 16),
      let key = KeyCode(number), key.kernelName == nil, key.shortName == text
    else { return nil }
    return key
  }

  private var kernelName: String? { eventCodeName(1, number) }

  /// The keys that the kernel has names for. Only the tables that are made of them are kept.
  private static var kernelNames: [(key: KeyCode, name: String)] {
    (0...KeyCode.max).compactMap { KeyCode($0) }.compactMap { key in
      key.kernelName.map { (key, $0) }
    }
  }

  /// The keys by their folded short names.
  private static let shortNames: [String: KeyCode] = {
    var keys: [String: KeyCode] = [:]
    for name in namesMissingInLibevdev.keys where name.hasPrefix("KEY_") {
      keys[folded(String(name.dropFirst(4)))] = KeyCode(name: name)
    }
    for (key, name) in kernelNames where name.hasPrefix("KEY_") {
      keys[folded(String(name.dropFirst(4)))] = key
    }
    for (name, kernelName) in KeyName.preferred + KeyName.aliases {
      keys[folded(name)] = KeyCode(name: kernelName)
    }
    return keys
  }()
}

/// The name in lower-case letters, without underscores.
private func folded(_ name: String) -> String {
  String(name.lowercased().filter { $0 != "_" })
}

extension Chord {
  /// The chord in short names, such as `Super+V`.
  public var shortName: String { key.shortName(with: modifiers) }
}

extension KeyCode {
  /// The short name of the key after those of the modifiers that are held with it, such
  /// as `Super+V`.
  public func shortName(with modifiers: Modifiers) -> String {
    let held = Modifiers.names.filter { modifiers.contains($0.modifier) }.map(\.name)
    return (held + [shortName]).joined(separator: "+")
  }
}

extension Modifiers {
  /// The short names of the modifiers, in the order in which they are shown.
  fileprivate static let names: [(name: String, modifier: Modifiers)] = [
    ("Any", .any), ("Super", .meta), ("Ctrl", .ctrl), ("Alt", .alt), ("Shift", .shift),
  ]
}
