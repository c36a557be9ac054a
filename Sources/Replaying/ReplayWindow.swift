public import KeyboardModes
public import SystemCalls
import Timelines

/// The part of a replay whose changes are shown, in times as ``Timelines/DisplayClock`` shows them.
public struct ReplayWindow: Sendable {
  let from: Time?
  let until: Time?

  /// The window from one time until another, both included; `nil` is the start or the end of the
  /// recording.
  ///
  /// - Throws: if `until` is before `from`.
  public init(from: Time? = nil, until: Time? = nil) throws(UsageError) {
    if let from, let until, until < from { throw UsageError("'--until' is earlier than '--from'") }
    self.from = from
    self.until = until
  }

  /// The window in recorded times, for a recording that is shown by `clock`.
  func bounds(on clock: DisplayClock) -> (start: Time, end: Time?) {
    (from.map(clock.recorded) ?? Time(microseconds: .min), until.map(clock.recorded))
  }
}
