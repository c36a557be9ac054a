import KeyboardModes
import Keyboards
import Linux
import Terminal

/// The message about an unknown name of a setting, an event or a state: where it belongs, the most
/// similar name, or all names.
func unknownName(_ name: String, _ kind: String, among known: [String]) -> String {
  if let name = nameWithoutSpace(name[...]) { return missingSpace(after: name) }
  if kind == "setting", let home = homes.first(where: { $0.names.contains(name) })?.section {
    return "'\(name)' belongs below '\(home)', indented deeper than that"
  }
  let mayBeOwn = kind != "setting" && nearest(to: name, among: known) == nil
  return "unknown \(kind) '\(name)'; \(suggestion(for: name, among: known))"
    + (mayBeOwn ? "; your own \(kind)s belong into keyboard.table.\(kind)s" : "")
}

/// The names below each section, for those that stand elsewhere.
private let homes: [(section: String, names: [String])] = [
  ("shift", ["threshold", "timeout", "trigger", "tap_timeout", "used_by"]),
  ("keyboard", ["bindings", "table"]), ("devices", ["only", "ignore", "pointers"]),
  ("bindings", KeyboardTable.standard.eventNames),
  ("table", ["replaces", "initial", "states", "events", "rows"]),
]

/// A hint about an unknown name of an LED: the most similar name, or all names.
func ledSuggestion(for name: String) -> String {
  let known = LEDs.allNames
  let meant = nearest(to: name, among: known) ?? nearest(to: "LED_\(name)", among: known)
  return meant.map { "did you mean \($0)?" } ?? "expected \(listed(known, "or"))"
}

/// The message about an unknown key: with the most similar name in the form of `name`, if there is
/// one.
func unknownKey(_ name: String) -> String {
  guard name.count != 1 else {
    let key = KeyCode(character: Character(name))
    let hint = key.map { "; did you mean \(named($0))?" } ?? keyViewer
    return "'\(name)' is a character, not the name of a key\(hint)"
  }
  return "unknown key name '\(name)'\(joinedChord(name) ?? keySuggestion(for: name))"
}

/// A hint to append to the error about a key that has no similar name.
private let keyViewer = "; 'keymodectl keys' shows the name of a key that you press"

/// The short name of a key, with the kernel's name after one that differs in more than case, such
/// as `Period (KEY_DOT)`: people look for either.
private func named(_ key: KeyCode) -> String {
  guard let kernelName = eventCodeName(1, key.number),
    kernelName != "KEY_\(key.shortName.uppercased())"
  else { return key.shortName }
  return "\(key.shortName) (\(kernelName))"
}

/// A hint to append to the error about a chord in another program's notation, such as `Ctrl-F9` or
/// `<Ctrl>F9`; `nil` for other texts.
private func joinedChord(_ text: String) -> String? {
  let names = text.split { "-<> ".contains($0) }
  let keys = names.compactMap { KeyCode(writtenAs: String($0)) }
  guard names.count > 1, keys.count == names.count, let chord = try? Chord(keys) else { return nil }
  return "; the keys of a chord are joined by '+': \(chord.shortName)"
}

/// A hint to append to the error about a text after a chord, if both were meant to be one name,
/// such as `Print Screen`, or one chord, such as `Ctrl F9`; otherwise empty.
func spacedKeySuggestion(for chord: ChordText) -> String {
  let words = [chord.names.last ?? "", chord.rest].joined(separator: "_")
  guard let key = KeyCode(writtenAs: words.split(separator: " ").joined(separator: "_")) else {
    let text = (chord.names + [chord.rest]).joined(separator: " ")
    if let joined = joinedChord(text) { return joined }
    return KeyCode(writtenAs: chord.rest) == nil ? "" : "; separate the keys by ','"
  }
  return "; did you mean \(key.shortName)?"
}

/// Modifiers by the names that keyboards of Macs have for them.
private let otherModifiers = [
  "cmd": "Super", "command": "Super", "opt": "Alt", "option": "Alt",
]

/// A hint to append to the error about an unknown key.
private func keySuggestion(for name: String) -> String {
  let (digits, radix) = name.hasPrefix("0x") ? (name.dropFirst(2), 16) : (name[...], 10)
  if let number = UInt16(digits, radix: radix) {
    return KeyCode(number).map { "; key number \(name) is \($0.shortName)" } ?? ""
  }
  if let own = otherModifiers[name.lowercased()] { return "; did you mean \(own)?" }
  let known = KeyCode.isKernelName(name) ? KeyCode.allNames : KeyCode.allShortNames
  if let similar = nearest(to: name, among: known) { return "; did you mean \(similar)?" }
  return name.contains(",") ? "; a list needs brackets: [\(name)]" : keyViewer
}
