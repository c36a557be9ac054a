/// The state of the keys of one device, as the controller knows it.
struct HeldKeys: Sendable {
  let device: DeviceID

  /// The keys that are down.
  private(set) var down = KeySet()

  /// The keys that are down and whose press sent a keyboard event. Their autorepeat is ignored.
  private var consumed = KeySet()

  /// A release that may turn out to be part of a bounce.
  private struct Release {
    let key: KeyCode
    let time: Time
    let wasConsumed: Bool
  }

  /// Recent releases of keys that are up. Always empty if debouncing is off.
  private var releases: [Release] = []

  /// The modifiers among the keys that are down. Cached, because every press on any device needs
  /// them.
  private var modifiers: Modifiers = []

  /// How many keys that move the cursor are down, and how many buttons. Counted for the presses of
  /// Shift, for the same reason.
  private(set) var navigationKeys = 0, buttons = 0

  init(device: DeviceID) { self.device = device }

  mutating func press(_ key: KeyCode) {
    if !down.contains(key) { count(key, 1) }
    down.insert(key)
    consumed.remove(key)
    modifiers.formUnion(Modifiers(of: key))
    if !releases.isEmpty { releases.removeAll { $0.key == key } }
  }

  /// Releases `key`, and returns whether it was down.
  mutating func release(_ key: KeyCode) -> Bool {
    consumed.remove(key)
    guard down.remove(key) else { return false }
    count(key, -1)
    if !Modifiers(of: key).isEmpty { modifiers = held(without: key) }
    return true
  }

  @inline(__always)
  private mutating func count(_ key: KeyCode, _ difference: Int) {
    // All keys that are typed have lower numbers.
    guard key.number >= KeyCode.navigationNumbers.lowerBound else { return }
    if key.isNavigation { navigationKeys += difference }
    if key.isPointerButton { buttons += difference }
  }

  /// Releases `key` at `time`, and returns whether it was down. If `debounce` is above zero,
  /// ``resume(_:at:_:)`` can undo the release within that interval.
  mutating func release(_ key: KeyCode, at time: Time, _ debounce: Duration) -> Bool {
    guard debounce > .zero else { return release(key) }
    let wasConsumed = consumed.contains(key)
    guard release(key) else { return false }
    forgetReleases(notWithin: debounce, of: time)
    releases.append(Release(key: key, time: time, wasConsumed: wasConsumed))
    return true
  }

  /// Undoes the last release of `key` if it is less than `debounce` away from `time`: the switch
  /// bounced, and the key was down all the time. Returns whether it undid a release.
  mutating func resume(_ key: KeyCode, at time: Time, _ debounce: Duration) -> Bool {
    guard !releases.isEmpty else { return false }
    forgetReleases(notWithin: debounce, of: time)
    guard let release = releases.first(where: { $0.key == key }) else { return false }
    press(key)
    if release.wasConsumed { consume(key) }
    return true
  }

  /// Whether ``resume(_:at:_:)`` would undo a release.
  func wouldResume(_ key: KeyCode, at time: Time, _ debounce: Duration) -> Bool {
    releases.contains { $0.key == key && $0.time.isWithin(debounce, of: time) }
  }

  /// Forgets all releases: no later press counts as a bounce after one of them.
  mutating func forgetReleases() { releases = [] }

  /// Forgets releases that can no longer be part of a bounce. The list stays short however much is
  /// typed, and typed keys do not stay in it for long.
  mutating func forgetReleases(notWithin debounce: Duration, of time: Time) {
    releases.removeAll { !$0.time.isWithin(debounce, of: time) }
  }

  /// The modifiers held on this device.
  func held() -> Modifiers { modifiers }

  /// The modifiers held on this device by keys other than `key`.
  func held(without key: KeyCode) -> Modifiers {
    // Another key may hold the same modifier, since left and right are merged.
    if Modifiers(of: key).isEmpty { return modifiers }
    return Modifiers.keys.reduce(into: []) { held, other in
      if other != key && down.contains(other) { held.formUnion(Modifiers(of: other)) }
    }
  }

  mutating func consume(_ key: KeyCode) { consumed.insert(key) }
  func isConsumed(_ key: KeyCode) -> Bool { consumed.contains(key) }
}

/// The state of the keys of all devices.
struct HeldKeysOfAll: Sendable {
  private(set) var devices: [HeldKeys] = []

  subscript(index: Int) -> HeldKeys {
    get { devices[index] }
    _modify { yield &devices[index] }
  }

  /// The index of `device`, which is added if it is missing.
  mutating func index(of device: DeviceID) -> Int {
    if let index = devices.firstIndex(where: { $0.device == device }) { return index }
    devices.append(HeldKeys(device: device))
    return devices.count - 1
  }

  mutating func remove(_ device: DeviceID) { devices.removeAll { $0.device == device } }

  /// Whether one of `modifiers` is held on any device.
  func isAnyHeld(of modifiers: Modifiers) -> Bool {
    for index in devices.indices where !devices[index].held().isDisjoint(with: modifiers) {
      return true
    }
    return false
  }

  /// Whether a key that moves the cursor or, if these count, a pointer's button is down on any device.
  func isNavigating(orUsingButtons countsButtons: Bool) -> Bool {
    for index in devices.indices
    where devices[index].navigationKeys > 0 || countsButtons && devices[index].buttons > 0 {
      return true
    }
    return false
  }

  /// The modifiers held on all devices, except by `key` on the device at `index`.
  func modifiersHeld(without key: KeyCode, _ index: Int) -> Modifiers {
    var held = devices[index].held(without: key)
    for other in devices.indices where other != index { held.formUnion(devices[other].held()) }
    return held
  }
}
