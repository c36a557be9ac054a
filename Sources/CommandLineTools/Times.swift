public import SystemCalls

/// The microseconds of a time such as `500ms`, `12.5s`, `250us` or, in seconds, `12.5`.
///
/// - Parameter text: a number of up to twelve digits, and up to six more after a point; then a unit.
/// - Throws: `UsageError` for any other text, and for a time finer than a microsecond.
public func microseconds(of text: String) throws(UsageError) -> Int64 {
  // The digits after the point that make a microsecond.
  let units = [("us", 0), ("ms", 3), ("s", 6)]
  let unit = units.first { text.hasSuffix($0.0) } ?? ("", 6)
  let parts = text.dropLast(unit.0.count)
    .split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
  let fraction = parts.count == 2 ? parts[1] : nil
  guard parts.allSatisfy({ $0.allSatisfy { "0"..."9" ~= $0 } }), 1...12 ~= parts[0].count,
    fraction.map({ 1...6 ~= $0.count && $0.count <= unit.1 }) ?? true,
    case let zeros = String(repeating: "0", count: unit.1 - (fraction?.count ?? 0)),
    let number = Int64("\(parts[0])\(fraction ?? "")\(zeros)")
  else { throw UsageError("'\(text)' is not a time such as 500ms, 2.5s or, in seconds, 2.5") }
  return number
}
