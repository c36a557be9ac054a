/// What the controller knows of the keys of one device.
struct HeldKeys: Sendable {
  let device: DeviceID

  /// The keys that are down.
  private(set) var down = KeySet()

  /// The keys that are down and whose press meant a keyboard event. Their autorepeat is nothing.
  private var consumed = KeySet()

  /// A release after which its key may turn out to have bounced.
  private struct Release {
    let key: KeyCode
    let time: Time
    let wasConsumed: Bool
  }

  /// The last releases, of keys that are up. Empty where nothing counts as a bounce.
  private var releases: [Release] = []

  /// The modifiers among the keys that are down. Kept, because every press on any device asks.
  private var modifiers: Modifiers = []

  init(device: DeviceID) {
    self.device = device
  }

  mutating func press(_ key: KeyCode) {
    down.insert(key)
    consumed.remove(key)
    modifiers.formUnion(Modifiers(of: key))
    if !releases.isEmpty { releases.removeAll { $0.key == key } }
  }

  /// - Returns: whether the key was down.
  mutating func release(_ key: KeyCode) -> Bool {
    consumed.remove(key)
    guard down.remove(key) else { return false }
    if !Modifiers(of: key).isEmpty { modifiers = held(without: key) }
    return true
  }

  /// Releases `key` at `time`, such that for `debounce`, if that is any time at all, it may turn out to
  /// have bounced.
  ///
  /// - Returns: whether the key was down.
  mutating func release(_ key: KeyCode, at time: Time, _ debounce: Duration) -> Bool {
    guard debounce > .zero else { return release(key) }
    let wasConsumed = consumed.contains(key)
    guard release(key) else { return false }
    forgetReleases(notWithin: debounce, of: time)
    releases.append(Release(key: key, time: time, wasConsumed: wasConsumed))
    return true
  }

  /// Undoes the last release of `key`, if that is less than `debounce` away from `time`: the switch
  /// bounced, and its key has been down all the time.
  ///
  /// - Returns: whether it was.
  mutating func resume(_ key: KeyCode, at time: Time, _ debounce: Duration) -> Bool {
    guard !releases.isEmpty else { return false }
    forgetReleases(notWithin: debounce, of: time)
    guard let release = releases.first(where: { $0.key == key }) else { return false }
    press(key)
    if release.wasConsumed { consume(key) }
    return true
  }

  /// Whether ``resume(_:at:_:)`` would say so.
  func wouldResume(_ key: KeyCode, at time: Time, _ debounce: Duration) -> Bool {
    releases.contains { $0.key == key && $0.time.isWithin(debounce, of: time) }
  }

  /// From now on no press is a bounce of a key that was released before.
  mutating func forgetReleases() { releases = [] }

  /// So there are no more than a few, whatever is typed, and nothing of it stays for long.
  private mutating func forgetReleases(notWithin debounce: Duration, of time: Time) {
    releases.removeAll { !$0.time.isWithin(debounce, of: time) }
  }

  /// The modifiers held on this device.
  func held() -> Modifiers { modifiers }

  /// The modifiers held on this device by keys other than `key`.
  func held(without key: KeyCode) -> Modifiers {
    // Left and right are merged, so what is left is not simply the rest.
    if Modifiers(of: key).isEmpty { return modifiers }
    return Modifiers.keys.reduce(into: []) { held, other in
      if other != key && down.contains(other) { held.formUnion(Modifiers(of: other)) }
    }
  }

  mutating func consume(_ key: KeyCode) { consumed.insert(key) }
  func isConsumed(_ key: KeyCode) -> Bool { consumed.contains(key) }
}

/// What is known of the keys of all devices.
struct HeldKeysOfAll: Sendable {
  private(set) var devices: [HeldKeys] = []

  subscript(index: Int) -> HeldKeys {
    get { devices[index] }
    _modify { yield &devices[index] }
  }

  /// The place of `device`, which gets one if it has none.
  mutating func index(of device: DeviceID) -> Int {
    if let index = devices.firstIndex(where: { $0.device == device }) { return index }
    devices.append(HeldKeys(device: device))
    return devices.count - 1
  }

  mutating func remove(_ device: DeviceID) { devices.removeAll { $0.device == device } }

  /// Whether one of `modifiers` is held on any device.
  func isAnyHeld(of modifiers: Modifiers) -> Bool {
    for place in devices.indices where !devices[place].held().isDisjoint(with: modifiers) {
      return true
    }
    return false
  }

  /// The union over all devices, without the key in question.
  func modifiersHeld(without key: KeyCode, _ index: Int) -> Modifiers {
    var held = devices[index].held(without: key)
    for other in devices.indices where other != index { held.formUnion(devices[other].held()) }
    return held
  }
}
