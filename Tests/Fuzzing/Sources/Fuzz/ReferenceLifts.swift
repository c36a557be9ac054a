import KeyboardModes

/// What the rules say of a Shift that a remapper lifts for a key.
struct ReferenceLift {
  let device: DeviceID
  let shift: UInt16
  let released: Int64
  /// The keys that were pressed meanwhile and are down; true for those that typed a character.
  var keys: [(key: UInt16, types: Bool)] = []
  var releases: [(time: Int64, types: Bool)] = []
  /// When Shift came back, if its report may bring a release yet.
  var returned: Int64?
}

extension Reference {
  static let remapping = Duration.microseconds(500)

  /// Whether a key is pressed with a lifted Shift.
  func isLifted(
    for device: DeviceID, _ stamp: Time, _ isSameReport: Bool, types: Bool, shift: UInt16? = nil
  ) -> Bool {
    lifts.contains { lift in
      lift.device == device && (shift == nil || shift == lift.shift)
        && isWithin(Self.remapping, lift.released, stamp.microseconds)
        && (!types || !isSameReport || stamp.microseconds != lift.released)
    }
  }

  mutating func lift(
    for key: UInt16, _ device: DeviceID, _ stamp: Time, _ isSameReport: Bool, types: Bool
  ) {
    let now = stamp.microseconds
    if !types { silent = (device, key, now) }
    for place in lifts.indices.reversed() where lifts[place].device == device {
      let since = lifts[place].releases.last?.time ?? lifts[place].released
      if lifts[place].keys.isEmpty, !isWithin(Self.remapping, since, now) {
        lifts.remove(at: place)
      } else if !types || !isSameReport || now != lifts[place].released {
        lifts[place].keys.append((key, types))
      }
    }
  }

  /// Whether a Shift that goes down is pressed by a hand, as far as is known now.
  mutating func isPress(
    _ shift: UInt16, _ device: DeviceID, _ stamp: Time, _ isSameReport: Bool, mayWait: Bool
  ) -> Bool {
    let now = stamp.microseconds
    guard let place = lifts.firstIndex(where: { $0.shift == shift && $0.device == device }) else {
      return true
    }
    let last = lifts[place].releases.last
    let silent = lifts[place].releases.last { !$0.types }
    let goesOn =
      silent.map { isWithin(Self.remapping, $0.time, now) } == true
      || last.map {
        isWithin(Self.remapping, $0.time, now) && !(isSameReport && $0.time == now)
      } == true
    if !goesOn, mayWait, lifts[place].keys.contains(where: { !$0.types }) {
      lifts[place].returned = now
      return false
    }
    lifts.remove(at: place)
    return !goesOn
  }

  mutating func endLifts(
    byReleaseOf key: UInt16, _ device: DeviceID, _ stamp: Time, _ isSameReport: Bool
  ) {
    let now = stamp.microseconds
    if Keys.modifier(key) == "shift" {
      lifts.removeAll { $0.shift == key && $0.device == device }
      var lift = ReferenceLift(device: device, shift: key, released: now)
      if isSameReport, let silent, silent.device == device, silent.time == now {
        lift.keys = [(silent.key, false)]
      }
      return lifts.append(lift)
    }
    for place in lifts.indices.reversed() where lifts[place].device == device {
      guard let index = lifts[place].keys.firstIndex(where: { $0.key == key }) else { continue }
      let types = lifts[place].keys.remove(at: index).types
      lifts[place].releases.append((now, types))
      if !types, lifts[place].returned == now { lifts.remove(at: place) }
    }
  }

  /// A Shift that came back was pressed by a hand.
  mutating func pressReturned() {
    let returned = lifts.filter { $0.returned != nil }
    lifts.removeAll { $0.returned != nil }
    for lift in returned {
      guard let time = lift.returned.map(Time.init(microseconds:)) else { continue }
      let held = modifiers(without: lift.shift, on: lift.device)
      act(lift.shift, lift.device, time, time, held, [], types: false, isSameReport: false)
    }
  }
}
