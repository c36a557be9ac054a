import Evdev
import KeyboardModes
import SystemCalls

/// A hint about an unknown `name`: the most similar of `candidates`, or all of them.
func suggestion(for name: String, among candidates: [String]) -> String {
  nearest(to: name, among: candidates).map { "did you mean '\($0)'?" } ?? only(candidates)
}

/// A hint about an unknown name of an LED: the most similar name, or all names.
func ledSuggestion(for name: String) -> String {
  let known = LEDs.allNames
  let meant = nearest(to: name, among: known) ?? nearest(to: "LED_\(name)", among: known)
  return meant.map { "did you mean \($0)?" } ?? only(known)
}

/// The message about an unknown key: with the most similar name in the form of `name`, if there is
/// one.
func unknownKey(_ name: String) -> String {
  guard name.count != 1 else {
    let key = KeyCode(character: Character(name))
    let hint =
      key.map { "did you mean \($0.shortName)?" }
      ?? "'keymodectl keys' shows the name of a key that you press"
    return "'\(name)' is a character, not the name of a key; \(hint)"
  }
  return "unknown key name '\(name)'\(keySuggestion(for: name))"
}

/// A hint to append to the error about a text after a chord, if both were meant to be one name, such
/// as `Print Screen`; otherwise empty.
func spacedKeySuggestion(for chord: ChordText) -> String {
  let words = [chord.names.last ?? "", chord.rest].joined(separator: "_")
  guard let key = KeyCode(writtenAs: words.split(separator: " ").joined(separator: "_")) else {
    return ""
  }
  return "; did you mean \(key.shortName)?"
}

/// A hint to append to the error about an unknown key; empty without a similar name.
private func keySuggestion(for name: String) -> String {
  let (digits, radix) = name.hasPrefix("0x") ? (name.dropFirst(2), 16) : (name[...], 10)
  if let number = UInt16(digits, radix: radix) {
    return KeyCode(number).map { "; key number \(name) is \($0.shortName)" } ?? ""
  }
  let known = KeyCode.isKernelName(name) ? KeyCode.allNames : KeyCode.allShortNames
  return nearest(to: name, among: known).map { "; did you mean \($0)?" } ?? ""
}

/// The sentence that lists all names.
private func only(_ names: [String]) -> String {
  switch names.count {
  case 0: "none is declared"
  default: "expected \(listed(names, "or"))"
  }
}

/// The longest name, in bytes, for which a similar one is searched.
private let longestName = 64

/// The one of `candidates` that comes closest to `name`, if any comes close.
func nearest(to name: String, among candidates: [String]) -> String? {
  guard name.utf8.count <= longestName else { return nil }
  let limit = max(1, name.count / 3)
  let letters = Array(name.lowercased().utf8)
  var best: (candidate: String, distance: Int)?
  for candidate in candidates {
    let other = Array(candidate.lowercased().utf8)
    // Each extra or missing letter is a change, so these names differ too much.
    guard abs(other.count - letters.count) <= limit else { continue }
    let distance = distance(letters, other)
    if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
  }
  return best?.candidate
}

/// How many letters must be added, left out, changed or swapped with their neighbour to get from one
/// to the other.
private func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
  var beforeLast = [Int](repeating: 0, count: right.count + 1)
  var last = Array(0...right.count)
  var row = beforeLast
  for i in left.indices {
    row[0] = i + 1
    for j in right.indices {
      let isSame = left[i] == right[j]
      var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (isSame ? 0 : 1))
      if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
        best = min(best, beforeLast[j - 1] + 1)
      }
      row[j + 1] = best
    }
    // The memory of the oldest row is reused for the next one.
    (beforeLast, last, row) = (last, row, beforeLast)
  }
  return last[right.count]
}
