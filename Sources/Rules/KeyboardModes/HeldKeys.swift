struct DeviceKey: Hashable, Sendable {
  let device: DeviceID
  let code: KeyCode

  init(_ device: DeviceID, _ code: KeyCode) { (self.device, self.code) = (device, code) }
}

/// The keys that are down on one device, as far as the controller knows.
struct DeviceKeys: Sendable {
  let device: DeviceID

  private(set) var down = KeySet()

  /// The keys whose last press completed a bound chord. While they are down, their autorepeat is
  /// ignored.
  fileprivate var chordKeys = KeySet()

  /// The modifiers among the keys that are down. Cached, because every press on any device needs
  /// them.
  private(set) var modifiers: Modifiers = []

  fileprivate mutating func press(_ key: KeyCode) {
    chordKeys.remove(key)
    setDown(key)
  }

  fileprivate mutating func setDown(_ key: KeyCode) {
    down.insert(key)
    modifiers.formUnion(Modifiers(of: key))
  }

  fileprivate mutating func release(_ key: KeyCode) {
    down.remove(key)
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

/// The keys that are down, on all devices.
struct HeldKeys: Sendable {
  private(set) var devices: [DeviceKeys] = []

  /// The cursor keys and pointer buttons that are down, and when each was last pressed or repeated.
  /// A key found down at opening has no time until the next input.
  private var shortcutKeyTimes: [(key: DeviceKey, time: Time?)] = []

  /// Whether a cursor key or button may have no time yet. ``fillInShortcutKeyTimes(at:)`` sets it.
  private(set) var lacksShortcutKeyTimes = false

  /// Opens `device` while these keys are down. Their presses were not seen.
  mutating func open(_ device: DeviceID, _ held: [KeyCode]) {
    let index = index(of: device)
    for key in held {
      devices[index].press(key)
      noteShortcutKey(DeviceKey(device, key), at: nil)
    }
  }

  /// Notes a press or repeat of `key`, if `key` is down and is a cursor key or a pointer button.
  mutating func noteShortcutKey(_ key: DeviceKey, at time: Time?) {
    guard KeyCode.navigationNumbers.contains(key.code.number) || key.code.isPointerButton,
      isDown(key)
    else { return }
    shortcutKeyTimes.removeAll { $0.key == key }
    shortcutKeyTimes.append((key, time))
    lacksShortcutKeyTimes = lacksShortcutKeyTimes || time == nil
  }

  /// Notes a repeat of `key`, unless its press completed only chords of `Any+`.
  mutating func noteRepeat(_ key: DeviceKey, at time: Time) {
    if !hasCompletedChord(key) || shortcutKeyTimes.contains(where: { $0.key == key }) {
      noteShortcutKey(key, at: time)
    }
  }

  /// Gives the keys without a time the time of the first input after their device was opened.
  mutating func fillInShortcutKeyTimes(at time: Time) {
    lacksShortcutKeyTimes = false
    for index in shortcutKeyTimes.indices where shortcutKeyTimes[index].time == nil {
      shortcutKeyTimes[index].time = time
    }
  }

  /// The cursor keys and pointer buttons that are down and were pressed or repeated less than 30 s
  /// before `time`. Older presses do not count: a virtual keyboard may never release a key.
  func shortcutKeys(at time: Time) -> some Sequence<DeviceKey> {
    shortcutKeyTimes.lazy.filter { $0.time?.isWithin(.seconds(30), of: time) != false }.map(\.key)
  }

  /// Presses `key`, and returns the modifiers held by other keys.
  mutating func press(_ key: DeviceKey) -> Modifiers {
    let index = index(of: key.device)
    var held = devices[index].modifiers(without: key.code)
    devices[index].press(key.code)
    // By index: iterating would copy each device.
    for other in devices.indices where other != index { held.formUnion(devices[other].modifiers) }
    return held
  }

  /// Undoes the release of `key`: the key was down throughout.
  mutating func undoRelease(of key: DeviceKey) { devices[index(of: key.device)].setDown(key.code) }

  /// Releases `key`, and returns whether it was down.
  mutating func release(_ key: DeviceKey) -> Bool {
    let index = index(of: key.device)
    guard devices[index].down.contains(key.code) else { return false }
    devices[index].release(key.code)
    if !shortcutKeyTimes.isEmpty { shortcutKeyTimes.removeAll { $0.key == key } }
    return true
  }

  /// Notes that the press of `key`, which is down, completed a bound chord.
  mutating func noteChord(completedBy key: DeviceKey) {
    devices[index(of: key.device)].chordKeys.insert(key.code)
  }

  mutating func remove(_ device: DeviceID) {
    devices.removeAll { $0.device == device }
    shortcutKeyTimes.removeAll { $0.key.device == device }
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
  func hasCompletedChord(_ key: DeviceKey) -> Bool {
    devices.contains {
      $0.device == key.device && $0.down.contains(key.code) && $0.chordKeys.contains(key.code)
    }
  }

  /// The modifiers held on all devices by keys other than `key`.
  func modifiers(without key: DeviceKey) -> Modifiers {
    devices.reduce(into: []) { held, other in
      let isOwn = other.device == key.device
      held.formUnion(isOwn ? other.modifiers(without: key.code) : other.modifiers)
    }
  }
}
