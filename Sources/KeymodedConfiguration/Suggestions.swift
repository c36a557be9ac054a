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

/// A hint to append to the error about an unknown key: the most similar name; empty without one.
func keySuggestion(for name: String) -> String {
  func meant() -> String? {
    if let number = UInt16(name) {
      // A digit is what the key types; a longer number is the kernel's code.
      return number < 10 ? "KEY_\(number)" : eventCodeName(1, number)
    }
    let known = KeyCode.allNames
    return nearest(to: name, among: known) ?? nearest(to: "KEY_\(name)", among: known)
  }
  return meant().map { "; did you mean \($0)?" } ?? ""
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
