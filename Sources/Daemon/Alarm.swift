import KeyboardModes
import Linux
import Terminal

/// A timer for a time on a source's clock, which is set only when the real time of it changes.
final class Alarm {
  private var timer: EventSource?
  /// When the timer will expire, in microseconds of the boot clock; `nil` while it is off.
  private var realTime: UInt64?

  /// - Parameter ready: called from the loop when the time has come.
  init(on loop: EventLoop, ready: @escaping () -> Void) throws(SystemError) {
    // Unowned: this object owns the timer, so it outlives every call.
    let timer = try loop.addTimer { [unowned self] in
      realTime = nil
      ready()
    }
    // The priority of keyboards: what is due comes before what they report next.
    timer.setPriority(.first)
    self.timer = timer
  }

  /// Sets the alarm to `time`, which the boot clock reaches at `realTime` microseconds; `nil` turns it
  /// off.
  func set(to time: Time?, at realTime: (Time) -> Int64) {
    // The clock of a recording that is played as fast as possible jumps.
    let realTime = time.map { UInt64(clamping: realTime($0)) }
    guard realTime != self.realTime else { return }
    self.realTime = realTime
    guard let realTime else { timer?.disable(); return }
    timer?.set(at: realTime)
  }
}
