/// A point in time in microseconds, on whatever clock the source of an event uses.
///
/// Live events carry `CLOCK_BOOTTIME`; those of a recording carry the time written there. Only
/// differences mean anything, and only between times of one source.
public struct Time: Hashable, Comparable, Sendable {
  /// Microseconds since the clock's own zero; negative before it.
  public let microseconds: Int64

  /// The time `microseconds` after the clock's zero.
  public init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  /// Whether less than `interval` lies between the two, whichever came first.
  ///
  /// The order does not matter because the stamps of two keyboards can cross by a hair.
  public func isWithin(_ interval: Duration, of other: Time) -> Bool {
    // `Duration` is wider than Int64 microseconds, so no pair of times overflows.
    let difference = Duration.microseconds(microseconds) - .microseconds(other.microseconds)
    return difference < interval && .zero - difference < interval
  }

  /// The first time that is not within `interval`; `nil` where the clock never gets there.
  func advanced(by interval: Duration) -> Time? {
    let (sum, overflow) = microseconds.addingReportingOverflow(
      interval.roundedUpToMicroseconds.wholeMicroseconds)
    return overflow ? nil : Time(microseconds: sum)
  }

  /// Whether `lhs` is the earlier time.
  public static func < (lhs: Time, rhs: Time) -> Bool {
    lhs.microseconds < rhs.microseconds
  }
}

extension Duration {
  /// The microseconds in it; what is finer is left out.
  var wholeMicroseconds: Int64 {
    components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
  }

  /// The next whole microsecond: since times are whole microseconds, to be less than it is the same.
  var roundedUpToMicroseconds: Duration {
    let (seconds, attoseconds) = components
    return .seconds(seconds) + .microseconds((attoseconds + 999_999_999_999) / 1_000_000_000_000)
  }
}
