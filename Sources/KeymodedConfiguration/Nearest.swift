/// The one of `candidates` that `name` was most likely meant to be, if any comes close.
func nearest(to name: String, among candidates: [String]) -> String? {
  let limit = max(1, name.count / 3)
  return candidates.map { ($0, distance(name, $0)) }
    .min { $0.1 < $1.1 }
    .flatMap { $0.1 <= limit ? $0.0 : nil }
}

/// How many letters must be added, left out, changed or swapped with their neighbour to get from one
/// to the other, where case does not count.
private func distance(_ lhs: String, _ rhs: String) -> Int {
  let left = Array(lhs.lowercased().utf8)
  let right = Array(rhs.lowercased().utf8)
  var beforeLast: [Int] = []
  var last = Array(0...right.count)
  for (i, l) in left.enumerated() {
    var row = [i + 1]
    for (j, r) in right.enumerated() {
      var best = min(last[j + 1] + 1, row[j] + 1, last[j] + (l == r ? 0 : 1))
      if i > 0, j > 0, l == right[j - 1], left[i - 1] == r {
        best = min(best, beforeLast[j - 1] + 1)
      }
      row.append(best)
    }
    (beforeLast, last) = (last, row)
  }
  return last[right.count]
}
