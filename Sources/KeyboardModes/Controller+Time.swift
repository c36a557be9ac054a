import StateMachines

/// What the controller does although nothing happens, and what it ignores because it comes too soon.
///
/// Two rules need time to go by. Neither reads a clock: the controller says when something is due, and
/// whoever has a clock, or comes with an input of that time or later, lets it happen. What is due has
/// its own time, however late that is noticed.
///
/// **An `on` that nobody used** is off at ``ShiftRules/timeout`` after its press.
///
/// **A switch that bounces** (``Settings/debounce``, `d`):
///
///     P--R-P---------R-P-R        P: the kernel's press, R: its release, R-P less than d apart
///     ^ pressed          ^ up     all that there was, is one press
///
/// A press acts at once, as the firmware of good keyboards has it ("eager"): nothing can be known then
/// of what comes later. A release acts at once too, for every other key: whether the key comes back is
/// not known yet, other programs took what follows as it was, and where no switch bounces nothing may be
/// another than without the rule. A press less than `d` after the release takes the release back: it
/// is no press, and the key is what it was, as if it had been down throughout. So of held keys, chords
/// and autorepeat no state has to wait for anything.
///
/// Only the release of a tap of Shift makes a change, which could not be taken back. It counts `d` later,
/// still timed at its press; or earlier, before anything else that may change a state.
extension Controller {
  /// When it next wants ``advance(to:publish:)`` to be called, if nothing happens before; `nil` where
  /// nothing is to happen by itself.
  public var deadline: Time? {
    guard hasDeadlines else { return nil }
    guard let tapDeadline, let shiftDeadline else { return tapDeadline ?? shiftDeadline }
    return min(tapDeadline, shiftDeadline)
  }

  /// Lets happen what is due at `time` or before, and hands each change to `publish`, in order. A change
  /// has the time at which it was due.
  ///
  /// An input of the same time comes later. Those that have a time do this by themselves.
  public mutating func advance(to time: Time, publish: (Change) -> Void) {
    if let deadline, deadline <= time { settleTap(publish) }
    if let due = shiftDeadline, due <= time { send(.timedOut, at: due, publish) }
  }

  /// Lets happen what is due at `time` or before, and decides what only waits for whether a switch
  /// bounces: nothing more will come.
  public mutating func end(at time: Time, publish: (Change) -> Void) {
    advance(to: time, publish: publish)
    settleTap(publish)
    advance(to: time, publish: publish)
  }

  /// Whether a press of `key` at `time` would be a bounce of its switch, and no press.
  public func isBounce(pressOf key: KeyCode, on device: DeviceID, at time: Time) -> Bool {
    keys.devices.contains { other in
      other.device == device && other.wouldResume(key, at: time, settings.debounce)
    }
  }

  /// When an `on` that nobody uses is off.
  var shiftDeadline: Time? {
    guard case .on = shift.state, let timeout = shift.rules.timeout, let shiftSince else {
      return nil
    }
    return shiftSince.advanced(by: timeout)
  }

  /// When a tap can bounce no more.
  private var tapDeadline: Time? { tap?.released?.advanced(by: settings.debounce) }

  /// Counts a tap that is over, if there is one.
  mutating func settleTap(_ publish: (Change) -> Void) {
    guard let tap, tap.released != nil else { return }
    self.tap = nil
    send(.shiftPressed(at: tap.pressed), at: tap.pressed, publish)
  }
}

extension Settings {
  /// Whether a controller can have a deadline.
  var haveDeadlines: Bool {
    if shift.timeout != nil { return true }
    // Of what may bounce, only a tap waits.
    guard case .tap = shiftTrigger else { return false }
    return debounce > .zero
  }
}
