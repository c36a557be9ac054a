/// A point in time in microseconds, on the clock of the event's source.
///
/// Live events have `CLOCK_BOOTTIME`; events of a recording have the recorded times. Only
/// differences between times of the same source have a meaning.
public struct Time: Hashable, Comparable, Sendable {
  /// Microseconds since the clock's own zero; negative before it.
  public let microseconds: Int64

  /// The time `microseconds` after the clock's zero.
  public init(microseconds: Int64) { self.microseconds = microseconds }

  /// Whether the two times are less than `interval` apart, in either order.
  ///
  /// The order does not matter because timestamps of two keyboards can be slightly out of order.
  public func isWithin(_ interval: Duration, of other: Time) -> Bool {
    // `Duration` is wider than Int64 microseconds, so no pair of times overflows.
    let difference = Duration.microseconds(microseconds) - .microseconds(other.microseconds)
    return difference < interval && .zero - difference < interval
  }

  /// The first time at least `interval` later; `nil` if it does not fit into an `Int64`.
  func advanced(by interval: Duration) -> Time? {
    let (sum, overflow) = microseconds.addingReportingOverflow(
      interval.roundedUpToMicroseconds.wholeMicroseconds)
    return overflow ? nil : Time(microseconds: sum)
  }

  /// Whether `lhs` is the earlier time.
  public static func < (lhs: Time, rhs: Time) -> Bool { lhs.microseconds < rhs.microseconds }
}

extension Duration {
  /// The duration in whole microseconds; a fraction is dropped.
  var wholeMicroseconds: Int64 {
    components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
  }

  /// The duration rounded up to a whole microsecond. Times are whole microseconds, so a difference
  /// of two times is less than the rounded duration exactly if it is less than the given duration.
  var roundedUpToMicroseconds: Duration {
    let (seconds, attoseconds) = components
    return .seconds(seconds) + .microseconds((attoseconds + 999_999_999_999) / 1_000_000_000_000)
  }
}
