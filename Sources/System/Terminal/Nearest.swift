/// A hint about an unknown `name`: the most similar of `candidates`, or all of them.
public func suggestion(for name: String, among candidates: [String]) -> String {
  if let meant = nearest(to: name, among: candidates) { return "did you mean '\(meant)'?" }
  return candidates.isEmpty ? "none is declared" : "expected \(listed(candidates, "or"))"
}

/// The candidate that is most similar to `name`, if any is similar. Case does not matter.
///
/// For a name of more than 64 bytes this is `nil`, because searching would take long.
public func nearest(to name: String, among candidates: [String]) -> String? {
  guard name.utf8.count <= 64 else { return nil }
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

/// How many letters must be added, left out, changed or swapped with their neighbour to get from
/// `left` to `right`.
private func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
  var rows = [Array(0...right.count)]
  for i in left.indices {
    var row = [i + 1]
    for j in right.indices {
      let isSame = left[i] == right[j]
      var best = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (isSame ? 0 : 1))
      if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
        best = min(best, rows[i - 1][j - 1] + 1)
      }
      row.append(best)
    }
    rows.append(row)
  }
  return rows[left.count][right.count]
}
