import KeyboardModes

/// What the rules say of the locks.
struct ReferenceLocks {
  /// A lock by its name: what its LEDs show together, and the state of its machine.
  struct One {
    var shown = "ledGone"
    var state = "unknown"
    /// When the LEDs changed, at any time.
    var changes: [Int64] = []
    /// Until when it is unknown because they changed too fast.
    var hidden: Int64?
  }

  var all = ["caps": One(), "num": One()]
  /// The LEDs that each device has: true for those that are on.
  var leds: [DeviceID: [String: Bool]] = [:]
  /// Whether devices that were opened have not been told of.
  var needsReport = false

  /// Whether what was before cannot matter any more to one that has the same devices.
  func isSettled(at time: Int64, _ reference: Reference) -> Bool {
    !needsReport
      && all.values.allSatisfy { one in
        one.hidden == nil
          && one.changes.allSatisfy { !reference.isWithin(.seconds(1), $0, time) }
      }
  }

  mutating func report(_ report: LEDReport, _ device: DeviceID) {
    for (name, number) in [("caps", UInt16(1)), ("num", 0)] {
      let led = LEDs(number: number)
      guard report.known.contains(led) else { continue }
      leds[device, default: [:]][name] = report.on.contains(led)
    }
  }

  /// What the LEDs of all devices show of a lock.
  func shown(_ name: String) -> String {
    let having = leds.values.compactMap { $0[name] }
    return having.contains(true) ? "ledOn" : having.contains(false) ? "ledOff" : "ledGone"
  }
}

extension Reference {
  /// When the first lock that was hidden is told again.
  var dueOfLocks: Int64? { locks.all.values.compactMap(\.hidden).min() }

  mutating func tellLocks(_ time: Time) {
    for name in ["caps", "num"] {
      guard var one = locks.all[name] else { continue }
      if let hidden = one.hidden, hidden <= time.microseconds { one.hidden = nil }
      let shown = locks.shown(name)
      if shown != one.shown {
        one.shown = shown
        if !locks.needsReport { count(&one, time) }
      }
      let isFollowed = settings.locks.contains { $0.machine.rawValue == name }
      let event = isFollowed && one.hidden == nil ? shown : "ledGone"
      let next = ["ledOn": "on", "ledOff": "off", "ledGone": "unknown"][event] ?? ""
      if next != one.state {
        add(name == "caps" ? .caps : .num, one.state, next, event, time)
        one.state = next
      }
      locks.all[name] = one
    }
    locks.needsReport = false
  }

  /// More than 20 changes within a second hide it for a second, and so does each change meanwhile.
  private func count(_ one: inout ReferenceLocks.One, _ time: Time) {
    one.changes = one.changes.filter { isWithin(.seconds(1), $0, time.microseconds) }
    one.changes.append(time.microseconds)
    if one.changes.count > 20 || one.hidden != nil {
      one.hidden = later(time.microseconds, .seconds(1))
    }
  }
}
