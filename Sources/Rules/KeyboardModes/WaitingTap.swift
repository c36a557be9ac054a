/// A press of Shift that counts at its release, if it turns out to be a tap: see
/// ``Settings/ShiftTrigger/tap``.
///
///     Shift   P--R---            P: its press, R: its release
///                |  ^ due: the tap counts, with the time of its press
///                ^ from here until due the switch may bounce; without debouncing, due is here
///
/// When another key goes down, a released tap counts before that key acts. A Shift that is still
/// down is then no tap.
struct WaitingTap: Sendable {
  private struct Press: Sendable {
    let key: DeviceKey
    let time: Time
    /// When the key was released in time for a tap; `nil` while the key is down.
    var released: Time?
  }

  private let timeout: Duration
  private let debounce: Duration
  private var press: Press?

  /// No press waits yet. The settings give the times.
  init(_ settings: Settings) { (timeout, debounce) = (settings.tapTimeout, settings.debounce) }

  var isEmpty: Bool { press == nil }

  /// When a released tap can no longer bounce, and counts; `nil` if there is none.
  var due: Time? { press?.released?.advanced(by: debounce) }

  /// Waits for the release of `key`, and forgets a press that waited before.
  mutating func press(_ key: DeviceKey, at time: Time) { press = Press(key: key, time: time) }

  /// Notes the release if `key` waits; if the press was too long for a tap, forgets it.
  mutating func release(_ key: DeviceKey, at time: Time) {
    guard let waiting = press, waiting.key == key else { return }
    if time.isWithin(timeout, of: waiting.time) { press?.released = time } else { press = nil }
  }

  /// Undoes the release of `key`, and returns whether this key waits.
  mutating func resume(_ key: DeviceKey) -> Bool {
    guard press?.key == key else { return false }
    press?.released = nil
    return true
  }

  /// Ends a tap whose key was released, and returns the time of its press, at which it counts.
  mutating func settle() -> Time? {
    guard let waiting = press, waiting.released != nil else { return nil }
    press = nil
    return waiting.time
  }

  /// Forgets the press: it is no tap.
  mutating func forget() { press = nil }
}
