/// A press of Shift that may turn out to be a tap.
struct TapCandidate: Sendable {
  let device: DeviceID
  let key: KeyCode
  let pressed: Time

  /// When the key was released in time for a tap; the switch may still bounce. `nil` while the key
  /// is held.
  var released: Time?

  /// Whether this is the press of `key` on `device`.
  func isPress(of key: KeyCode, _ device: DeviceID) -> Bool {
    self.key == key && self.device == device
  }
}
