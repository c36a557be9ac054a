/// A press that completed a bound chord, while something may follow it: a tap, a hold, or a release.
struct OpenUse: Sendable {
  let device: DeviceID
  let key: KeyCode
  var uses: ChordUses
  /// When the key went down; `nil` if that is unknown.
  let pressed: Time?

  /// Whether the release can still be a tap.
  var mayBeTap: Bool
  /// When the hold is due; `nil` if there is none, or if it has been sent.
  var holdDue: Time?
  /// When the key was released, if its switch may still bounce.
  var released: Time?
  /// Orders the releases that wait and have the same time: the smallest number went up first, and acts
  /// first.
  var place = 0

  init(_ uses: ChordUses, _ key: KeyCode, on device: DeviceID, pressed: Time?) {
    (self.device, self.key, self.uses, self.pressed) = (device, key, uses, pressed)
    mayBeTap = pressed != nil
    holdDue = uses.hold == nil ? nil : pressed?.advanced(by: uses.holdDuration)
  }

  /// Whether this is a use of `key` on `device`.
  func isOf(_ key: KeyCode, _ device: DeviceID) -> Bool { self.key == key && self.device == device }

  /// When something is due; `nil` if nothing is.
  func deadline(debouncing interval: Duration) -> Time? {
    released.map { $0.advanced(by: interval) } ?? holdDue
  }
}

extension ChordUses {
  /// Those of these uses, whose events are of `table`, that `settings` bind for `key` to the events of
  /// the same names.
  func kept(from table: KeyboardTable, by settings: Settings, _ key: KeyCode) -> ChordUses {
    let bound = settings.bindings.chords.filter { $0.key == key }
      .compactMap { settings.bindings[$0] }
    var kept = ChordUses()
    for (old, use) in events {
      guard let event = settings.keyboard.event(named: table.name(ofEvent: old)),
        bound.contains(where: { $0.events.contains { $0.event == event && $0.use == use } })
      else { continue }
      _ = kept.bind(use, to: event)
    }
    return kept
  }
}
