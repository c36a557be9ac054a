import System

/// Why a text is not a valid time.
public enum DurationError: Error {
  /// The text is not a decimal number with a unit.
  case malformed
  /// The text is a number without a unit.
  case noUnit
  /// The time is finer than a microsecond, or has more than six digits after the point.
  case tooFine
  /// The time is longer or shorter than allowed.
  case outOfRange
}

extension Duration {
  /// The duration written as a decimal number and a unit, `h`, `m`, `s`, `ms` or `us`. The number
  /// must be less than 10¹², and the duration a whole number of microseconds.
  public init(
    written text: String,
    within range: ClosedRange<Duration> = Duration.zero...Duration.seconds(1 << 40)
  ) throws(DurationError) {
    let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let unit = text[number.endIndex...]
    guard let scale = Self.units.first(where: { $0.name == unit })?.size else {
      throw unit.isEmpty && !number.isEmpty ? .noUnit : .malformed
    }
    let parts = number.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty }) else { throw .malformed }
    guard parts[0].count <= 12, let whole = Int64(parts[0]) else { throw .outOfRange }
    // A fraction adds less than one unit.
    guard whole < Int64.max / scale else { throw .outOfRange }
    var microseconds = whole * scale
    if parts.count == 2 {
      guard parts[1].count <= 6, let digits = Int64(parts[1]) else { throw .tooFine }
      let divisor = (0..<parts[1].count).reduce(Int64(1)) { power, _ in power * 10 }
      guard (digits * scale).isMultiple(of: divisor) else { throw .tooFine }
      microseconds += digits * scale / divisor
    }
    self = .microseconds(microseconds)
    guard range.contains(self) else { throw .outOfRange }
  }

  /// The units in microseconds, the largest first.
  private static let units: [(size: Int64, name: String)] = [
    (3_600_000_000, "h"), (60_000_000, "m"), (1_000_000, "s"), (1000, "ms"), (1, "us"),
  ]

  /// The duration as ``init(written:within:)`` reads it: in the largest unit that needs no
  /// fraction, such as `90s`; `0s` for zero. A fraction of a microsecond is dropped.
  public var written: String {
    let microseconds = wholeMicroseconds
    let largest = microseconds == 0 ? 1_000_000 : microseconds.magnitude
    let unit =
      Self.units.first { $0.size <= largest && microseconds.isMultiple(of: $0.size) } ?? (1, "us")
    return "\(microseconds / unit.size)\(unit.name)"
  }
}

/// The microseconds of a time such as `500ms`, `12.5s`, `2h` or, in seconds, `12.5`.
///
/// - Throws: `UsageError` for any other text, and for a time finer than a microsecond.
public func microseconds(of text: String) throws(UsageError) -> Int64 {
  let isWithoutUnit = text.last?.isNumber ?? false
  do {
    return try Duration(written: isWithoutUnit ? "\(text)s" : text).wholeMicroseconds
  } catch {
    throw UsageError("'\(text)' is not a time such as 500ms, 2.5s or, in seconds, 2.5")
  }
}
