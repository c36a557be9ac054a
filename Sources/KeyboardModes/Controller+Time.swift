/// The controller's timed rules: the timeout of Shift, holds, and debouncing.
///
/// No rule reads a clock. The controller reports when something is due (``deadline``), and it
/// happens when the caller calls ``advance(to:publish:)`` or passes an input of that time or later.
/// A change that was due has its own time, however late that call is.
///
/// **Timeout:** an unused `on` ends ``ShiftRules/timeout`` after its press. While a tap of Shift waits
/// for a possible bounce, so does the timeout: the tap would have come before it.
///
/// **Debouncing** (``Settings/debounce``, `d`):
///
///     P--R-P---------R-P-R        P: the kernel's press, R: its release, R-P less than d apart
///     ^ pressed          ^ up     the controller counts one press
///
/// A press takes effect at once, as in the firmware of good keyboards ("eager" debouncing): the
/// events after it are not known yet. A release also takes effect at once for all other keys: the
/// controller cannot know yet whether the key will bounce, other programs do not wait either, and
/// without bounces the rule must not change anything. A press less than `d` after the release
/// undoes the release: it is not a new press, and the key is in the same state as if it had been
/// down throughout. So held keys, chords and autorepeat never have to wait.
///
/// Only for a tap of Shift, and for a chord with such a ``Use``, does a release cause a change, and a
/// change cannot be undone. So it counts `d` later, or before the next press of another key; a tap of
/// Shift also before any other input that may change a state. It keeps its own time.
extension Controller {
  /// When the caller must next call ``advance(to:publish:)`` if no input comes before; `nil` if
  /// nothing is due.
  public var deadline: Time? {
    guard hasDeadlines else { return nil }
    return earlier(dueUse?.due, tapDeadline ?? shiftDeadline)
  }

  /// When the caller must next call ``take(_:keysUp:taken:publish:)`` if no input comes before: at the
  /// ``deadline``, or to ask the kernel whether keys are still down. `nil` for never.
  public var wakeTime: Time? { earlier(nextCheck, deadline) }

  /// Performs everything due at `time` or before, and passes each change to `publish`, in order. A
  /// timeout and a hold have the time at which they were due, a release its own time, and a tap of
  /// Shift the time of its press.
  ///
  /// A deadline comes before an input of the same time. ``take(_:publish:)`` does this itself for
  /// inputs that have a time.
  public mutating func advance(to time: Time, publish: (Change) -> Void) {
    while let due = deadline, due <= time {
      if let use = dueUse, use.due == due {
        act(on: use.open, at: due, publish)
      } else if tapDeadline != nil {
        settleTap(publish)
      } else {
        openShifts.removeAll()
        send(.timedOut, at: due, publish)
      }
    }
  }

  /// Performs everything due at `time` or before, and counts taps and releases that still wait for a
  /// possible bounce. Call this after the last input.
  public mutating func end(at time: Time, publish: (Change) -> Void) {
    advance(to: time, publish: publish)
    settleReleases(publish)
    settleTap(publish)
    advance(to: time, publish: publish)
  }

  /// Whether a press of `key` at `time` would be a bounce of its switch and not count as a press.
  public func isBounce(pressOf key: KeyCode, on device: DeviceID, at time: Time) -> Bool {
    keys.devices.contains { other in
      other.device == device && other.wouldResume(key, at: time, settings.debounce)
    }
  }

  /// When an unused `on` ends.
  var shiftDeadline: Time? {
    guard case .on(let since) = shift.state, let timeout = shift.rules.timeout else { return nil }
    return (since ?? shiftSince)?.advanced(by: timeout)
  }

  /// When a released tap can no longer bounce.
  private var tapDeadline: Time? { tap?.released?.advanced(by: settings.debounce) }

  /// Counts a tap whose key was released, if there is one.
  mutating func settleTap(_ publish: (Change) -> Void) {
    guard let tap, tap.released != nil else { return }
    self.tap = nil
    send(.shiftPressed(at: tap.pressed), at: tap.pressed, publish)
  }
}

/// The earlier of two times, either of which may be `nil`. Allocates nothing, unlike `min()` of an
/// array.
private func earlier(_ first: Time?, _ second: Time?) -> Time? {
  guard let first, let second else { return first ?? second }
  return min(first, second)
}

extension Settings {
  /// Whether debouncing is on.
  var isDebouncing: Bool { debounce > .zero }

  /// Whether a controller can have a deadline.
  var haveDeadlines: Bool {
    if shift.timeout != nil { return true }
    // Debouncing delays only taps and releases.
    return shiftTrigger == .tap && isDebouncing
      || bindings.haveDeadlines(debouncing: isDebouncing)
  }
}
