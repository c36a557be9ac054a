import KeyboardModes
import SystemCalls
import Systemd

/// A timer for a time on a source's clock, which is set only when that time changes.
final class Alarm {
  private var timer: EventSource?
  private var time: Time?

  /// - Parameter ready: called from the loop when the time has come.
  init(on loop: EventLoop, ready: @escaping () -> Void) throws(SystemError) {
    let timer = try loop.addTimer { [unowned self] in
      time = nil
      ready()
    }
    // The priority of keyboards: what is due comes before what they report next.
    timer.setPriority(.first)
    self.timer = timer
  }

  /// Sets the alarm to `time`, which the boot clock reaches at `realTime` microseconds; `nil` turns it
  /// off.
  func set(to time: Time?, at realTime: (Time) -> Int64) {
    guard time != self.time else { return }
    self.time = time
    guard let time else { timer?.disable(); return }
    timer?.set(at: UInt64(clamping: realTime(time)))
  }
}
