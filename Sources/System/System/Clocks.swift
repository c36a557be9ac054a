import Glibc

/// The time on `CLOCK_MONOTONIC` in microseconds, as `sd_notify(3)` wants it.
public func monotonicMicroseconds() -> Int64 { microseconds(CLOCK_MONOTONIC) }

/// The time on `CLOCK_BOOTTIME`, which includes suspend, in microseconds.
public func microsecondsSinceBoot() -> Int64 { microseconds(CLOCK_BOOTTIME) }

private func microseconds(_ clock: clockid_t) -> Int64 {
  var time = timespec()
  clock_gettime(clock, &time)
  return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
}

extension Duration {
  /// The duration in whole microseconds; a fraction is dropped.
  public var wholeMicroseconds: Int64 {
    components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
  }
}
