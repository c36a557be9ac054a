/// What the controller knows of the keys of one device.
struct HeldKeys: Sendable {
  let device: DeviceID

  /// The keys that are down.
  private(set) var down = KeySet()

  /// The keys that are down and whose press meant a keyboard event. Their autorepeat is nothing.
  private var consumed = KeySet()

  /// The modifiers among the keys that are down. Kept, because every press on any device asks.
  private var modifiers: Modifiers = []

  init(device: DeviceID) {
    self.device = device
  }

  mutating func press(_ key: KeyCode) {
    down.insert(key)
    consumed.remove(key)
    modifiers.formUnion(Modifiers(of: key))
  }

  /// - Returns: whether the key was down.
  mutating func release(_ key: KeyCode) -> Bool {
    consumed.remove(key)
    guard down.remove(key) else { return false }
    if !Modifiers(of: key).isEmpty { modifiers = held(without: key) }
    return true
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
