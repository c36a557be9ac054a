/// What is known of a device's lock LEDs.
public struct LEDReport: Hashable, Sendable {
  /// The LEDs that the report is about; the device has all of them.
  public var known: LEDs
  /// The LEDs of ``known`` that are on.
  public var on: LEDs

  /// A report about the LEDs in `known`. The LEDs in `on` are on; the rest of `known` are off.
  public init(_ known: LEDs = [], on: LEDs = []) { (self.known, self.on) = (known, on) }

  /// Adds a later report of the same device.
  public mutating func update(by later: LEDReport) {
    known.formUnion(later.known)
    on = on.subtracting(later.known).union(later.on)
  }
}

/// The lock LEDs of all devices.
///
/// A lock that changes more than 20 times a second is `unknown` until it has not changed for a
/// second. Some desktops light a lock's LED only on the keyboard that was used last. If a person
/// types on two keyboards, the lock then changes with the key strokes, and would reveal them.
struct LockLEDs: Sendable {
  fileprivate static let maxChanges = 20
  fileprivate static let window = Duration.seconds(1)

  /// Hides a lock whose LED changes too fast.
  fileprivate struct FlickerFilter: Sendable {
    /// The times of the last change, and of changes less than a second before it.
    var recentChanges: [Time] = []
    /// What the LEDs showed last.
    var shown = LockRules.Event.ledGone
    /// Until when the lock is unknown because its LED changed too fast.
    var hiddenUntil: Time?
  }

  private var devices: [(device: DeviceID, leds: LEDReport)] = []
  private var caps = FlickerFilter()
  private var num = FlickerFilter()

  /// Whether a device has reported its LEDs at its opening, and the locks have not been sent events
  /// for them. The events are sent before the next input that has a time.
  private(set) var hasUnsentReports = false

  /// When a lock that changed too fast is first known again; `nil` if no lock changed too fast.
  var due: Time? { earlier(caps.hiddenUntil, num.hiddenUntil) }

  mutating func update(_ device: DeviceID, by report: LEDReport, isOpening: Bool) {
    if isOpening { hasUnsentReports = true }
    guard let index = devices.firstIndex(where: { $0.device == device }) else {
      return devices.append((device, report))
    }
    devices[index].leds.update(by: report)
  }

  mutating func remove(_ device: DeviceID) { devices.removeAll { $0.device == device } }

  /// The event of each lock at `time`, by its LEDs. What a device shows at its opening does not
  /// count as a change of the LED: the LED may have been so for long.
  mutating func events(at time: Time) -> [(lock: Lock, event: LockRules.Event)] {
    let isOpening = hasUnsentReports
    hasUnsentReports = false
    return [
      (.caps, caps.event(showing: shown(.caps), at: time, isOpening: isOpening)),
      (.num, num.event(showing: shown(.num), at: time, isOpening: isOpening)),
    ]
  }

  private func shown(_ lock: Lock) -> LockRules.Event {
    if devices.contains(where: { $0.leds.on.contains(lock.led) }) { return .ledOn }
    return devices.contains { $0.leds.known.contains(lock.led) } ? .ledOff : .ledGone
  }
}

extension LockLEDs.FlickerFilter {
  /// The event of the lock at `time`: what the LEDs show or, if they changed too fast, `ledGone`.
  fileprivate mutating func event(
    showing now: LockRules.Event, at time: Time, isOpening: Bool
  ) -> LockRules.Event {
    if let end = hiddenUntil, end <= time { hiddenUntil = nil }
    if now != shown {
      shown = now
      if !isOpening { count(changeAt: time) }
    }
    return hiddenUntil == nil ? now : .ledGone
  }

  private mutating func count(changeAt time: Time) {
    recentChanges.removeAll { !time.isWithin(LockLEDs.window, of: $0) }
    recentChanges = recentChanges.suffix(LockLEDs.maxChanges) + [time]
    if hiddenUntil != nil || recentChanges.count > LockLEDs.maxChanges {
      hiddenUntil = time.advanced(by: LockLEDs.window)
    }
  }
}
