public import SystemCalls

/// The microseconds of a time in seconds, such as `12.5`.
///
/// - Parameter text: one to twelve digits, and up to six more after a point.
/// - Throws: `UsageError` for any other text.
public func microseconds(inSeconds text: String) throws(UsageError) -> Int64 {
  let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
  let fraction = parts.count == 2 ? parts[1] : "0"
  guard (parts + [fraction]).allSatisfy({ $0.allSatisfy { "0"..."9" ~= $0 } }),
    1...12 ~= parts[0].count, 1...6 ~= fraction.count, let seconds = Int64(parts[0]),
    let microseconds = Int64(fraction + String(repeating: "0", count: 6 - fraction.count))
  else { throw UsageError("time '\(text)' is not a number of seconds such as 12.5") }
  return seconds * 1_000_000 + microseconds
}
