/// A press of Shift that may turn out to be a tap.
struct TapCandidate: Sendable {
  let device: DeviceID
  let key: KeyCode
  let pressed: Time
  let timeout: Duration

  /// When it was released as a tap is, where the switch may yet bounce; `nil` while it is held.
  var released: Time?

  init(_ key: KeyCode, of device: DeviceID, pressed: Time, timeout: Duration) {
    self.key = key
    self.device = device
    self.pressed = pressed
    self.timeout = timeout
  }

  /// Whether it is the press of this key.
  func isPress(of key: KeyCode, _ device: DeviceID) -> Bool {
    self.key == key && self.device == device
  }
}
