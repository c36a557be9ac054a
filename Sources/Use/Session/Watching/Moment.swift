import Glibc
import Terminal

/// A moment on two clocks: the boot clock and the time of day.
public struct Moment: Sendable {
  /// Microseconds on `CLOCK_BOOTTIME`.
  let boot: Int64
  /// Microseconds since 1970.
  let day: Int64

  /// The moment at this time since boot and since 1970, in microseconds.
  public init(boot: Int64, day: Int64) {
    (self.boot, self.day) = (boot, day)
  }

  /// The present moment.
  public static var now: Moment {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    let boot = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    clock_gettime(CLOCK_REALTIME, &time)
    return Moment(boot: boot, day: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }

  /// Microseconds since `time`. Overflow wraps: a daemon that plays a recording may send any time.
  func passed(since time: Int64) -> Int64 { boot &- time }

  /// The local time of day to the millisecond, such as `15:02:11.042`.
  ///
  /// - Parameter time: microseconds on `CLOCK_BOOTTIME`.
  func clock(at time: Int64) -> String {
    let (second, rest) = (day &- passed(since: time)).quotientAndRemainder(dividingBy: 1_000_000)
    var seconds = time_t(second)
    var parts = tm()
    localtime_r(&seconds, &parts)
    let text = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { padded($0, 2, "0") }
      .joined(separator: ":")
    return "\(text).\(padded(rest / 1000, 3, "0"))"
  }
}
