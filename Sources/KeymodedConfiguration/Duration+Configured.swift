extension Duration {
  /// The duration written as a decimal number and a unit, `s`, `ms` or `us`; exact to the
  /// microsecond, and `nil` for anything finer or anything else.
  init?(configured text: String) {
    let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let scale: Int64
    switch text[number.endIndex...] {
    case "s": scale = 1_000_000
    case "ms": scale = 1000
    case "us": scale = 1
    default: return nil
    }
    let parts = number.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let whole = Int64(parts[0]), whole < 1_000_000_000 else {
      return nil
    }
    var microseconds = whole * scale
    if parts.count == 2 {
      guard 1...6 ~= parts[1].count, let digits = Int64(parts[1]) else { return nil }
      let divisor = (0..<parts[1].count).reduce(Int64(1)) { power, _ in power * 10 }
      guard (digits * scale).isMultiple(of: divisor) else { return nil }
      microseconds += digits * scale / divisor
    }
    self = .microseconds(microseconds)
  }
}
