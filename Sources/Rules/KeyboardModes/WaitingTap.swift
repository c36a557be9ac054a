/// A press of Shift that counts at its release, if it turns out to be a tap: see
/// ``Settings/ShiftTrigger/tap``.
///
///     Shift   P--R---            P: its press, R: its release
///                |  ^ due: the tap counts, with the time of its press
///                ^ from here until due, Shift may be lifted for a key, and the switch may bounce
///
/// When another key goes down, a released tap counts before that key acts, unless Shift was lifted
/// for that key (``LiftedShifts``). A Shift that was lifted for a key, or is still down, is no tap.
struct WaitingTap: Sendable {
  private struct Press: Sendable {
    let key: DeviceKey
    let time: Time
    /// When the key was released in time for a tap; `nil` while the key is down.
    var released: Time?
  }

  private let timeout: Duration
  private let wait: Duration
  private var press: Press?

  /// Begins without a press. `settings` has the timeout of a tap and the debounce interval.
  init(_ settings: Settings) {
    (timeout, wait) = (settings.tapTimeout, max(settings.debounce, LiftedShifts.maxGap))
  }

  /// The Shift key whose press waits; `nil` if no press waits.
  var key: DeviceKey? { press?.key }

  var isEmpty: Bool { press == nil }

  /// The latest time at which a released tap counts; `nil` if there is none.
  var due: Time? { press?.released?.advanced(by: wait) }

  /// Waits for the release of `key`, and forgets a press that waited before.
  mutating func press(_ key: DeviceKey, at time: Time) { press = Press(key: key, time: time) }

  /// Notes the release if `key` waits; forgets the press if it was too long for a tap.
  mutating func release(_ key: DeviceKey, at time: Time) {
    guard let waiting = press, waiting.key == key else { return }
    if time.isWithin(timeout, of: waiting.time) { press?.released = time } else { press = nil }
  }

  /// Undoes the release of `key`.
  mutating func undoRelease(of key: DeviceKey) { if press?.key == key { press?.released = nil } }

  /// Removes a tap whose key was released, and returns the time of its press; `nil` without one.
  mutating func popReleasedTap() -> Time? {
    guard let waiting = press, waiting.released != nil else { return nil }
    press = nil
    return waiting.time
  }

  /// Forgets the press: it is no tap.
  mutating func forget() { press = nil }
}
