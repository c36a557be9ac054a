public import KeyboardModes

extension Keyboards {
  /// The modifiers and buttons that have been held for a minute now, as far as the kernel knows.
  public var longHolds: [LongHold] {
    let now = Self.now
    return followed.flatMap { device in
      let long = device.held.filter { !now.isWithin(LongHold.minDuration, of: $0.since) }
      let up = long.isEmpty ? [] : keysUp(among: long.map(\.key), on: device.id)
      return long.filter { !up.contains($0.key) }.map { key, since in
        LongHold(device: device.device.name, isButton: key.isPointerButton, since: since)
      }
    }
  }
}

extension FollowedDevice {
  /// Notes that a modifier or pointer button is down or up from this time on. Ignores other keys.
  mutating func note(_ key: KeyCode, isDown: Bool, at time: Time) {
    guard key.isModifier || key.isPointerButton else { return }
    held.removeAll { $0.key == key }
    if isDown { held.append((key, time)) }
  }
}
