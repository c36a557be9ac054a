public import KeyboardModes

/// Converts the times of a recording to the times that people are shown.
///
/// Some recordings have times since 1970. Their shown times count from the whole second of the
/// first event, so that they are short and have the same digits after the point as the recording.
public struct DisplayClock: Sendable {
  /// The recorded time that is shown as 0, in microseconds.
  let zero: Int64

  /// The clock that shows times as they are recorded.
  public init() { zero = 0 }

  /// The clock for a recording whose first event is at `first`.
  public init(startingWith first: Time) {
    let second: Int64 = 1_000_000
    let isSince1970 = first.microseconds > 100_000_000 * second
    zero = isSince1970 ? first.microseconds / second * second : 0
  }

  /// The time that is shown for a recorded time. Recorded times are never negative.
  public func shown(_ recorded: Time) -> Time { Time(microseconds: recorded.microseconds - zero) }

  /// The recorded time that is shown as `shown`; on overflow, the latest possible time.
  public func recorded(_ shown: Time) -> Time {
    let (sum, overflow) = shown.microseconds.addingReportingOverflow(zero)
    return Time(microseconds: overflow ? .max : sum)
  }
}
