struct DeviceKey: Hashable, Sendable {
  let device: DeviceID
  let code: KeyCode

  init(_ device: DeviceID, _ code: KeyCode) { (self.device, self.code) = (device, code) }
}

/// The keys of one device that are down, as the controller knows them.
struct DeviceKeys: Sendable {
  let device: DeviceID

  private(set) var down = KeySet()

  /// The keys that are down and whose press completed a bound chord. Their autorepeat is ignored.
  fileprivate var consumed = KeySet()

  /// The modifiers among the keys that are down. Cached, because every press on any device needs
  /// them.
  private(set) var modifiers: Modifiers = []

  fileprivate mutating func press(_ key: KeyCode) {
    down.insert(key)
    consumed.remove(key)
    modifiers.formUnion(Modifiers(of: key))
  }

  fileprivate mutating func release(_ key: KeyCode) {
    down.remove(key)
    consumed.remove(key)
    if !Modifiers(of: key).isEmpty { modifiers = modifiers(without: key) }
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

/// The keys of all devices that are down.
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
/// A release causes a change only for a tap of Shift, and for a chord with a tap or a release. A
/// change cannot be undone, so the release counts `d` later, or before the next press of another
/// key; a tap of Shift also before any other input that may change a state. Times do not change.
struct HeldKeys: Sendable {
  /// A release that may turn out to be part of a bounce.
  private struct Release {
    let key: DeviceKey
    let time: Time
    let wasConsumed: Bool
  }

  private(set) var devices: [DeviceKeys] = []

  /// Recent releases of keys that are up. Always empty if debouncing is off.
  private var releases: [Release] = []

  /// The keys that move the cursor and the buttons of pointers that are down, and when each was pressed
  /// or repeated last; `nil` for those that were down when their device was opened.
  private var ofShortcuts: [(key: DeviceKey, time: Time?)] = []

  /// Whether a key was down at opening and ``dateOpenedKeys(at:)`` was not called since.
  private(set) var haveUndated = false

  /// A press less than this away from the key's release is a bounce; with zero, none is.
  var debounce: Duration {
    didSet { if debounce == .zero { releases = [] } }
  }

  /// No key is down on any device.
  init(debounce: Duration) { self.debounce = debounce }

  /// Opens `device` while these keys are down. Their presses were not seen.
  mutating func open(_ device: DeviceID, _ held: [KeyCode]) {
    let index = index(of: device)
    releases.removeAll { $0.key.device == device }
    for key in held {
      devices[index].press(key)
      noteShortcutKey(DeviceKey(device, key), at: nil)
    }
  }

  /// Notes a press or repeat of `key`, if it is down and moves the cursor or is a pointer's button.
  mutating func noteShortcutKey(_ key: DeviceKey, at time: Time?) {
    guard KeyCode.navigationNumbers.contains(key.code.number) || key.code.isPointerButton,
      isDown(key)
    else { return }
    ofShortcuts.removeAll { $0.key == key }
    ofShortcuts.append((key, time))
    haveUndated = haveUndated || time == nil
  }

  /// Notes a repeat of `key`, unless its press was none that counts for shortcuts.
  mutating func noteRepeat(_ key: DeviceKey, at time: Time) {
    if !isConsumed(key) || ofShortcuts.contains(where: { $0.key == key }) {
      noteShortcutKey(key, at: time)
    }
  }

  /// Notes that the keys that were down at opening were so at `time`: no input came in between.
  mutating func dateOpenedKeys(at time: Time) {
    haveUndated = false
    for index in ofShortcuts.indices where ofShortcuts[index].time == nil {
      ofShortcuts[index].time = time
    }
  }

  /// The keys that move the cursor and the buttons of pointers that are down and were pressed or repeated
  /// less than 30 s before `time`. A key may never go up: the program of a virtual keyboard forgets it.
  func shortcutKeys(at time: Time) -> some Sequence<DeviceKey> {
    ofShortcuts.lazy.filter { $0.time?.isWithin(.seconds(30), of: time) != false }.map(\.key)
  }

  /// Presses `key`, and returns the modifiers held by other keys; `nil` if the press is a bounce,
  /// which undoes the release of the key.
  mutating func press(_ key: DeviceKey, at time: Time) -> Modifiers? {
    let index = index(of: key.device)
    if !releases.isEmpty, let release = takeRelease(of: key, at: time) {
      devices[index].press(key.code)
      if release.wasConsumed { devices[index].consumed.insert(key.code) }
      return nil
    }
    var held = devices[index].modifiers(without: key.code)
    devices[index].press(key.code)
    // By index: iterating would copy each device.
    for other in devices.indices where other != index { held.formUnion(devices[other].modifiers) }
    return held
  }

  /// Removes the release of `key` if a press at `time` is its bounce, and returns it.
  private mutating func takeRelease(of key: DeviceKey, at time: Time) -> Release? {
    forgetReleases(on: key.device, before: time)
    return releases.firstIndex { $0.key == key }.map { releases.remove(at: $0) }
  }

  /// Releases `key`, and returns whether it was down.
  mutating func release(_ key: DeviceKey, at time: Time) -> Bool {
    let index = index(of: key.device)
    guard devices[index].down.contains(key.code) else { return false }
    if debounce > .zero {
      forgetReleases(on: key.device, before: time)
      let wasConsumed = devices[index].consumed.contains(key.code)
      releases.append(Release(key: key, time: time, wasConsumed: wasConsumed))
    }
    devices[index].release(key.code)
    if !ofShortcuts.isEmpty { ofShortcuts.removeAll { $0.key == key } }
    return true
  }

  /// Forgets releases on `device` after which a press at `time` is no bounce. The list stays short
  /// however much is typed, and typed keys do not stay in it for long.
  private mutating func forgetReleases(on device: DeviceID, before time: Time) {
    releases.removeAll { $0.key.device == device && !$0.time.isWithin(debounce, of: time) }
  }

  /// Notes that the press of `key`, which is down, completed a bound chord.
  mutating func consume(_ key: DeviceKey) {
    devices[index(of: key.device)].consumed.insert(key.code)
  }

  mutating func remove(_ device: DeviceID) {
    devices.removeAll { $0.device == device }
    ofShortcuts.removeAll { $0.key.device == device }
    releases.removeAll { $0.key.device == device }
  }

  /// The index of `device`, which is added if it is missing.
  private mutating func index(of device: DeviceID) -> Int {
    if let index = devices.firstIndex(where: { $0.device == device }) { return index }
    devices.append(DeviceKeys(device: device))
    return devices.count - 1
  }

  func isDown(_ key: DeviceKey) -> Bool {
    devices.contains { $0.device == key.device && $0.down.contains(key.code) }
  }

  /// Whether `key` is down and its press completed a bound chord.
  func isConsumed(_ key: DeviceKey) -> Bool {
    devices.contains { $0.device == key.device && $0.consumed.contains(key.code) }
  }

  /// Whether a press of `key` at `time` would be a bounce.
  func isBounce(_ key: DeviceKey, at time: Time) -> Bool {
    releases.contains { $0.key == key && $0.time.isWithin(debounce, of: time) }
  }

  /// The modifiers held on all devices by keys other than `key`.
  func modifiers(without key: DeviceKey) -> Modifiers {
    devices.reduce(into: []) { held, other in
      let isOwn = other.device == key.device
      held.formUnion(isOwn ? other.modifiers(without: key.code) : other.modifiers)
    }
  }
}
