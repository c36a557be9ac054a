import Glibc
import Terminal

/// A moment on two clocks: the boot clock and the time of day.
public struct Moment: Sendable {
  /// Microseconds on `CLOCK_BOOTTIME`.
  let sinceBoot: Int64
  /// Microseconds since 1970.
  let since1970: Int64

  /// Each parameter sets the property of the same name.
  public init(sinceBoot: Int64, since1970: Int64) {
    (self.sinceBoot, self.since1970) = (sinceBoot, since1970)
  }

  /// The present moment.
  public static var now: Moment {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    let sinceBoot = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    clock_gettime(CLOCK_REALTIME, &time)
    let since1970 = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    return Moment(sinceBoot: sinceBoot, since1970: since1970)
  }

  /// Microseconds since `time`. Overflow wraps: a daemon that plays a recording may send any time.
  func elapsed(since time: Int64) -> Int64 { sinceBoot &- time }

  /// The local time of day to the millisecond, such as `15:02:11.042`.
  ///
  /// - Parameter time: microseconds on `CLOCK_BOOTTIME`.
  func timeOfDay(at time: Int64) -> String {
    let moment = since1970 &- elapsed(since: time)
    let (second, rest) = moment.quotientAndRemainder(dividingBy: 1_000_000)
    var seconds = time_t(second)
    var parts = tm()
    localtime_r(&seconds, &parts)
    let text = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { padded($0, 2, "0") }
      .joined(separator: ":")
    return "\(text).\(padded(rest / 1000, 3, "0"))"
  }
}
