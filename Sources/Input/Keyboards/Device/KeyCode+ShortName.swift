public import KeyboardModes
import Terminal

/// Short names of keys, such as `F9`, `Scroll_Lock` and `Super`: the kernel's names without `KEY_`,
/// and names that people know from keyboards and desktops. Case and underscores do not matter.
extension KeyCode {
  /// The key that `text` names: by the kernel's name (`KEY_F9`), by a short name (`F9`) or, for a
  /// key without a name, by its number (`0x2e8`). Case does not matter. `nil` if there is no such
  /// key.
  public init?(writtenAs text: String) {
    // Refuses characters that become ASCII letters in another case: the Kelvin sign becomes k.
    guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    let capitals = text.uppercased()
    let key =
      Self.isKernelName(text)
      ? KeyCode(name: capitals)
      : Self.shortNames[folded(text)] ?? KeyCode(name: "KEY_\(capitals)") ?? Self.unnamed(text)
    guard let key else { return nil }
    self = key
  }

  /// A name for people, which ``init(writtenAs:)`` reads as this key: the short name, else the
  /// kernel's name (`BTN_LEFT`), else the number (`0x2e8`).
  public var shortName: String {
    kernelName.map(KeyName.short) ?? "0x\(padded(number, 3, radix: 16, "0"))"
  }

  /// The names of all keys that the kernel's header had when libevdev was built.
  public static let allNames = kernelNames.map(\.name)

  /// The short names of all keys, aliases included.
  public static let allShortNames =
    kernelNames.map { KeyName.short(ofKernelName: $0.name) }.filter { !isKernelName($0) }
    + KeyName.aliases.map(\.name)

  /// Whether `text` has the form of a kernel's name.
  public static func isKernelName(_ text: String) -> Bool {
    let start = text.utf8.prefix(4).map { $0 >= UInt8(ascii: "a") ? $0 & ~0x20 : $0 }
    return start == Array("KEY_".utf8) || start == Array("BTN_".utf8)
  }

  /// The key of a punctuation mark that the US layout types without Shift, such as `Period` for
  /// `.`; `nil` for any other character.
  public init?(character: Character) {
    guard let name = KeyName.characters[character], let key = KeyCode(name: name) else {
      return nil
    }
    self = key
  }

  /// The key whose number is `text`, such as `0x2e8`; `nil` if the key has a name.
  private static func unnamed(_ text: String) -> KeyCode? {
    let text = text.lowercased()
    guard text.hasPrefix("0x"), let number = UInt16(text.dropFirst(2), radix: 16),
      let key = KeyCode(number), key.kernelName == nil, key.shortName == text
    else { return nil }
    return key
  }

  private var kernelName: String? { eventCodeName(1, number) }

  /// The keys with names of the kernel. This list is made at each use; only tables made from it
  /// stay in memory.
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
  /// The short names of the held modifiers and then of the key, joined by `+`, such as `Super+V`.
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
