import Glibc

/// The monotonic time (`CLOCK_MONOTONIC`), which systemd uses, in microseconds.
public func monotonicMicroseconds() -> Int64 { microseconds(CLOCK_MONOTONIC) }

/// The boot time (`CLOCK_BOOTTIME`), which includes time in suspend, in microseconds.
public func microsecondsSinceBoot() -> Int64 { microseconds(CLOCK_BOOTTIME) }

private func microseconds(_ clock: clockid_t) -> Int64 {
  var time = timespec()
  clock_gettime(clock, &time)
  return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
}
