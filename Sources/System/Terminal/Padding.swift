/// `text` with spaces behind it, up to `width` characters.
public func padded(_ text: String, _ width: Int) -> String {
  text + String(repeating: " ", count: max(0, width - text.count))
}

/// `number` with spaces, or `fill`, before it, up to `width` characters.
public func padded(
  _ number: some BinaryInteger, _ width: Int, radix: Int = 10, _ fill: String = " "
) -> String {
  let text = String(number, radix: radix)
  return String(repeating: fill, count: max(0, width - text.utf8.count)) + text
}

/// `microseconds` in seconds, with six digits after the point.
public func seconds(_ microseconds: Int64) -> String {
  let (whole, rest) = microseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
  return "\(microseconds < 0 ? "-" : "")\(whole).\(padded(rest, 6, "0"))"
}
