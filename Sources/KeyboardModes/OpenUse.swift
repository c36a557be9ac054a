/// A press that completed a bound chord, while something may follow it: a tap, a hold, or a release.
struct OpenUse: Sendable {
  let device: DeviceID
  let key: KeyCode
  let uses: ChordUses
  /// When the key went down; `nil` if that is unknown.
  let pressed: Time?

  /// Whether the release can still be a tap.
  var mayBeTap: Bool
  /// When the hold is due; `nil` if there is none, or if it has been sent.
  var holdDue: Time?
  /// When the key was released, if its switch may still bounce.
  var released: Time?

  init(_ uses: ChordUses, _ key: KeyCode, on device: DeviceID, pressed: Time?) {
    (self.device, self.key, self.uses, self.pressed) = (device, key, uses, pressed)
    mayBeTap = pressed != nil
    holdDue = uses.hold == nil ? nil : pressed?.advanced(by: uses.holdDuration)
  }

  /// When something is due; `nil` if nothing is.
  func deadline(debouncing interval: Duration) -> Time? {
    released.map { $0.advanced(by: interval) } ?? holdDue
  }
}
