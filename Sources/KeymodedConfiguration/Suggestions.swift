internal import Evdev
internal import KeyboardModes
internal import SystemCalls

/// The one of `candidates` that `name` was most likely meant to be, or all of them.
func suggestion(for name: String, among candidates: [String]) -> String {
  nearest(to: name, among: candidates).map { "did you mean '\($0)'?" } ?? only(candidates)
}

/// The LED that was most likely meant, or all of them.
func lightSuggestion(for name: String) -> String {
  let known = Lights.allNames
  let meant = nearest(to: name, among: known) ?? nearest(to: "LED_\(name)", among: known)
  return meant.map { "did you mean \($0)?" } ?? only(known)
}

/// The key that was most likely meant, to be put behind the error; empty where none is near.
func keySuggestion(for name: String) -> String {
  func meant() -> String? {
    if let number = UInt16(name) {
      // A digit is what the key types; anything longer is the kernel's number.
      return number < 10 ? "KEY_\(number)" : eventCodeName(1, number)
    }
    let known = KeyCode.allNames
    return nearest(to: name, among: known) ?? nearest(to: "KEY_\(name)", among: known)
  }
  return meant().map { "; did you mean \($0)?" } ?? ""
}

/// All that there is.
private func only(_ names: [String]) -> String {
  switch names.count {
  case 0: "there is none"
  case 1: "there is only \(names[0])"
  default: "there are \(listed(names, "and"))"
  }
}

/// For longer names, in bytes, no suggestion is looked for.
private let longestName = 64

/// The one of `candidates` that comes closest to `name`, if any comes close.
func nearest(to name: String, among candidates: [String]) -> String? {
  guard name.utf8.count <= longestName else { return nil }
  let limit = max(1, name.count / 3)
  let letters = Array(name.lowercased().utf8)
  var best: (candidate: String, distance: Int)?
  for candidate in candidates {
    let other = Array(candidate.lowercased().utf8)
    // Each letter more or fewer is a change, so these need not be compared.
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
    // The oldest row is the memory of the next.
    (beforeLast, last, row) = (last, row, beforeLast)
  }
  return last[right.count]
}
