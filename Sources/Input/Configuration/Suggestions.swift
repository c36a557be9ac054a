import KeyboardModes
import Keyboards
import Terminal

/// The message about an unknown name of a setting, an event or a state. It explains a common
/// mistake, or suggests the most similar name or all names.
func unknownName(_ name: String, _ kind: String, among known: [String]) -> String {
  if known == SettingNames.machine, SettingNames.table.contains(name) {
    return "a machine of your own has no '\(name)': its states are the names below 'rows:', "
      + "its events those in the rows"
  }
  if kind == "setting", let place = section(of: name) { return "'\(name)' belongs below \(place)" }
  if kind.hasPrefix("event"), let event = known.first, KeyCode(writtenAs: name) != nil {
    return "'\(name)' is a key: write the event first, such as '\(event): [\(name)]'"
  }
  if kind == "state", let dot = name.firstIndex(of: "."),
    !known.contains(where: { $0.hasPrefix(name[...dot]) })
  {
    let (machine, state) = (name[..<dot], name[name.index(after: dot)...])
    return "unknown state '\(name)'; "
      + (known.contains(String(state))
        ? "write '\(state)' alone" : "there is no machine '\(machine)' below 'machines:'")
  }
  let mayBeOwn = ["state", "event"].contains(kind) && nearest(to: name, among: known) == nil
  return "unknown \(kind) '\(name)'; \(suggestion(for: name, among: known))"
    + (mayBeOwn ? "; your own \(kind)s belong into keyboard.table.\(kind)s" : "") + colonHint(name)
}

/// A hint to append to the error about a text such as `timeout:3s`, which YAML takes for one name;
/// empty for a text without a colon.
func colonHint(_ text: String) -> String {
  text.utf8.contains(UInt8(ascii: ":")) ? "; a space must follow ':'" : ""
}

/// The section of a setting or an event, such as `'keyboard:'`; `nil` for any other name.
private func section(of name: String) -> String? {
  switch name {
  case _ where SettingNames.shift.contains(name): "'shift:'"
  case _ where SettingNames.devices.contains(name): "'devices:'"
  case _ where SettingNames.keyboard.contains(name): "'keyboard:'"
  case _ where SettingNames.table.contains(name): "'table:' of 'keyboard:'"
  case _ where CompiledTable.shipped.eventNames.contains(name): "'bindings:' of 'keyboard:'"
  default: nil
  }
}

/// The message about an unknown key. It may suggest the most similar name: a kernel's name such as
/// `KEY_DOT` if `name` has that form, otherwise a short name.
///
/// - Parameter isModifier: whether `name` stands before another key, where only a modifier is
///   valid.
func unknownKey(_ name: String, isModifier: Bool = false) -> String {
  guard name.count != 1 else {
    let key = KeyCode(character: Character(name))
    let hint = key.map { "; did you mean \($0.shortName)?" } ?? keyViewerHint
    return "'\(name)' is a character, not the name of a key\(hint)"
  }
  if let meant = OtherKeyName.shortName(for: name, isModifier: isModifier) {
    return "unknown key name '\(name)'; did you mean \(meant)?"
  }
  let parts = name.split(separator: "-").map(String.init)
  if parts.count > 1, parts.allSatisfy({ KeyCode(writtenAs: $0) != nil }) {
    return "unknown key name '\(name)'; join keys by '+': \(parts.joined(separator: "+"))"
  }
  let known = KeyCode.isKernelName(name) ? KeyCode.allNames : KeyCode.allShortNames
  let hint = nearest(to: name, among: known).map { "; did you mean \($0)?" }
  return "unknown key name '\(name)'\(hint ?? keyViewerHint)"
}

/// A hint to append to the error about a key that has no similar name.
private let keyViewerHint = "; 'keymodectl keys' shows the name of a key that you press"
