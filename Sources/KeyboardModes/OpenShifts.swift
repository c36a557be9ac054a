/// The presses of Shift that may turn out to belong to a shortcut: those that sent `shiftPressed`, as
/// long as their key is down.
struct OpenShifts: Sendable {
  private struct Press: Sendable {
    let device: DeviceID
    let key: KeyCode
    /// The state of the Shift machine before the press.
    let before: ShiftRules.State
    /// If not, the key was released, and its switch may still bounce.
    var isDown = true
  }

  /// In the order of the presses.
  private var presses: [Press] = []

  /// Whether there are none, not even one that may bounce.
  var isEmpty: Bool { presses.isEmpty }

  /// The state of the Shift machine before the earliest press; `nil` if there is none.
  var stateBefore: ShiftRules.State? { presses.first { $0.isDown }?.before }

  /// The keys of the presses on `device`.
  func keys(of device: DeviceID) -> [KeyCode] {
    presses.filter { $0.device == device && $0.isDown }.map(\.key)
  }

  mutating func press(_ key: KeyCode, _ device: DeviceID, before: ShiftRules.State) {
    forget(key, device)
    presses.append(Press(device: device, key: key, before: before))
  }

  /// - Parameter mayBounce: whether ``resume(_:_:)`` may follow.
  mutating func release(_ key: KeyCode, _ device: DeviceID, mayBounce: Bool) {
    guard let index = index(of: key, device) else { return }
    if mayBounce { presses[index].isDown = false } else { presses.remove(at: index) }
  }

  /// Undoes a release: the key was down throughout.
  mutating func resume(_ key: KeyCode, _ device: DeviceID) {
    if let index = index(of: key, device) { presses[index].isDown = true }
  }

  private func index(of key: KeyCode, _ device: DeviceID) -> Int? {
    presses.firstIndex { $0.key == key && $0.device == device }
  }

  /// Forgets the press of a key that is pressed anew.
  mutating func forget(_ key: KeyCode, _ device: DeviceID) {
    if !presses.isEmpty { presses.removeAll { $0.key == key && $0.device == device } }
  }

  mutating func remove(_ device: DeviceID) { presses.removeAll { $0.device == device } }

  /// Forgets all of them: none belongs to a shortcut any more.
  mutating func removeAll() { presses.removeAll(keepingCapacity: true) }
}
