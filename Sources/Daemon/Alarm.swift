import KeyboardModes
import Linux
import Terminal

/// A timer for a time on a source's clock. It is set again only if the boot time differs.
final class Alarm {
  private var timer: EventSource?
  /// When the timer will expire, in microseconds of the boot clock; `nil` while it is off.
  private var realTime: UInt64?

  /// - Parameter ready: called from the loop when the time has come.
  init(on loop: EventLoop, ready: @escaping () -> Void) throws(SystemError) {
    // Unowned: this object owns the timer, and outlives every call.
    let timer = try loop.addTimer { [unowned self] in
      realTime = nil
      ready()
    }
    // Before clients: what is due must not wait until they are served.
    timer.setPriority(.first)
    self.timer = timer
  }

  /// Sets the alarm to `time`, which the boot clock reaches at `realTime` microseconds; `nil` turns
  /// it off.
  func set(to time: Time?, at realTime: (Time) -> Int64) {
    // Clamped, because a recording at unlimited speed makes time jump.
    let realTime = time.map { UInt64(clamping: realTime($0)) }
    guard realTime != self.realTime else { return }
    self.realTime = realTime
    guard let realTime else { timer?.disable(); return }
    timer?.set(at: realTime)
  }
}
