/// A key of one device.
struct DeviceKey: Hashable, Sendable {
  let device: DeviceID
  let code: KeyCode

  init(_ device: DeviceID, _ code: KeyCode) { (self.device, self.code) = (device, code) }
}

/// The state of the keys of one device, as the controller knows it.
struct DeviceKeys: Sendable {
  let device: DeviceID

  /// The keys that are down.
  private(set) var down = KeySet()

  /// The keys that are down and whose press completed a bound chord. Their autorepeat is ignored.
  fileprivate var consumed = KeySet()

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
  private(set) var modifiers: Modifiers = []

  init(device: DeviceID) { self.device = device }

  /// Presses `key`, whatever it was before.
  mutating func press(_ key: KeyCode) {
    down.insert(key)
    consumed.remove(key)
    modifiers.formUnion(Modifiers(of: key))
    if !releases.isEmpty { releases.removeAll { $0.key == key } }
  }

  /// Presses `key`. If the press is a bounce, undoes the key's release and returns `nil`.
  ///
  /// - Returns: the modifiers held on this device by other keys.
  mutating func press(_ key: KeyCode, at time: Time, _ debounce: Duration?) -> Modifiers? {
    if let debounce, resume(key, at: time, debounce) { return nil }
    let held = modifiers(without: key)
    press(key)
    return held
  }

  /// Releases `key` at `time`, and returns whether it was down. With `debounce`,
  /// ``press(_:at:_:)`` can undo the release within that interval.
  mutating func release(_ key: KeyCode, at time: Time, _ debounce: Duration?) -> Bool {
    let wasConsumed = consumed.remove(key)
    guard down.remove(key) else { return false }
    if !Modifiers(of: key).isEmpty { modifiers = modifiers(without: key) }
    if let debounce {
      forgetReleases(notWithin: debounce, of: time)
      releases.append(Release(key: key, time: time, wasConsumed: wasConsumed))
    }
    return true
  }

  /// Undoes the last release of `key` if it is less than `debounce` away from `time`: the switch
  /// bounced, and the key was down all the time. Returns whether it undid a release.
  private mutating func resume(_ key: KeyCode, at time: Time, _ debounce: Duration) -> Bool {
    guard !releases.isEmpty else { return false }
    forgetReleases(notWithin: debounce, of: time)
    guard let release = releases.first(where: { $0.key == key }) else { return false }
    press(key)
    if release.wasConsumed { consumed.insert(key) }
    return true
  }

  /// Whether a press of `key` at `time` would be a bounce.
  func isBounce(_ key: KeyCode, at time: Time, _ debounce: Duration) -> Bool {
    releases.contains { $0.key == key && $0.time.isWithin(debounce, of: time) }
  }

  /// Forgets all releases: no later press counts as a bounce after one of them.
  mutating func forgetReleases() { releases = [] }

  /// Forgets releases that can no longer be part of a bounce. The list stays short however much is
  /// typed, and typed keys do not stay in it for long.
  private mutating func forgetReleases(notWithin debounce: Duration, of time: Time) {
    releases.removeAll { !$0.time.isWithin(debounce, of: time) }
  }

  /// The modifiers held on this device by keys other than `key`.
  func modifiers(without key: KeyCode) -> Modifiers {
    // Another key may hold the same modifier, since left and right are merged.
    if Modifiers(of: key).isEmpty { return modifiers }
    return Modifiers.keys.reduce(into: []) { held, other in
      if other != key && down.contains(other) { held.formUnion(Modifiers(of: other)) }
    }
  }
}

/// The state of the keys of all devices.
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
/// Only for a tap of Shift, and for a chord with a tap or a release, does a release cause a change,
/// and a change cannot be undone. So it counts `d` later, or before the next press of another key;
/// a tap of Shift also before any other input that may change a state. It keeps its own time.
struct HeldKeys: Sendable {
  private(set) var devices: [DeviceKeys] = []

  /// A press less than this away from the key's release is a bounce; `nil` if none is.
  private(set) var debounce: Duration?

  /// No key is down on any device.
  init(debounce: Duration) { setDebounce(debounce) }

  /// From now on, a press less than this away from the key's release is a bounce.
  mutating func setDebounce(_ interval: Duration) {
    debounce = interval > .zero ? interval : nil
    guard debounce == nil else { return }
    for index in devices.indices { devices[index].forgetReleases() }
  }

  /// Opens `device` while these keys are down. Their presses were not seen.
  mutating func open(_ device: DeviceID, _ held: [KeyCode]) {
    let index = index(of: device)
    devices[index].forgetReleases()
    for key in held { devices[index].press(key) }
  }

  /// Presses `key`, and returns the modifiers held by other keys; `nil` if the press is a bounce,
  /// which undoes the release of the key.
  mutating func press(_ key: DeviceKey, at time: Time) -> Modifiers? {
    let index = index(of: key.device)
    guard var held = devices[index].press(key.code, at: time, debounce) else { return nil }
    // By index: copying a device retains it.
    for other in devices.indices where other != index { held.formUnion(devices[other].modifiers) }
    return held
  }

  /// Releases `key`, and returns whether it was down.
  mutating func release(_ key: DeviceKey, at time: Time) -> Bool {
    devices[index(of: key.device)].release(key.code, at: time, debounce)
  }

  /// Makes `key`, which is down, one whose press completed a bound chord.
  mutating func consume(_ key: DeviceKey) {
    devices[index(of: key.device)].consumed.insert(key.code)
  }

  /// Forgets the keys of a device.
  mutating func remove(_ device: DeviceID) { devices.removeAll { $0.device == device } }

  /// The index of `device`, which is added if it is missing.
  private mutating func index(of device: DeviceID) -> Int {
    if let index = devices.firstIndex(where: { $0.device == device }) { return index }
    devices.append(DeviceKeys(device: device))
    return devices.count - 1
  }

  /// Whether `key` is down.
  func isDown(_ key: DeviceKey) -> Bool {
    devices.contains { $0.device == key.device && $0.down.contains(key.code) }
  }

  /// Whether `key` is down and its press completed a bound chord.
  func isConsumed(_ key: DeviceKey) -> Bool {
    devices.contains { $0.device == key.device && $0.consumed.contains(key.code) }
  }

  /// Whether a press of `key` at `time` would be a bounce.
  func isBounce(_ key: DeviceKey, at time: Time) -> Bool {
    guard let debounce else { return false }
    return devices.contains { $0.device == key.device && $0.isBounce(key.code, at: time, debounce) }
  }

  /// Whether a key with one of these numbers is down on any device;
  /// see ``KeySet/containsAny(of:)``.
  func isAnyDown(of numbers: ClosedRange<UInt16>) -> Bool {
    // By index: copying a device retains it.
    devices.indices.contains { devices[$0].down.containsAny(of: numbers) }
  }

  /// The modifiers held on all devices by keys other than `key`.
  func modifiers(without key: DeviceKey) -> Modifiers {
    devices.reduce(into: []) { held, other in
      let isOwn = other.device == key.device
      held.formUnion(isOwn ? other.modifiers(without: key.code) : other.modifiers)
    }
  }
}
