/// An event of the keyboard machine that is to be sent with this time.
struct TimedEvent: Hashable, Sendable {
  let event: KeyboardTable.Event
  let time: Time
}

/// A press that completed a bound chord, while something may follow it: a tap, a hold, or
/// a release.
struct OpenUse: Sendable {
  let key: DeviceKey
  var uses: ChordUses
  /// When the key went down; `nil` if that is unknown.
  let pressed: Time?

  /// Whether the release can still be a tap.
  var mayBeTap: Bool
  /// When the hold is due; `nil` if there is none, or if it has been sent.
  var holdDue: Time?
  /// When the key was released, if its switch may still bounce.
  var released: Time?
  /// Orders waiting releases of the same time: the smallest went up first, and acts first.
  var order = 0

  init(_ uses: ChordUses, _ key: DeviceKey, pressed: Time?) {
    (self.key, self.uses, self.pressed) = (key, uses, pressed)
    mayBeTap = pressed != nil
    holdDue = uses.hold == nil ? nil : pressed?.advanced(by: uses.holdDuration)
  }

  /// Those uses that `settings` bind too, for the same key and to an event of the same name. The
  /// present events are of `table`.
  func kept(from table: KeyboardTable, by settings: Settings) -> ChordUses {
    let bound = settings.bindings.chords.filter { $0.key == key.code }
      .compactMap { settings.bindings[$0] }
    var kept = ChordUses()
    for (old, use) in uses.events {
      guard let event = settings.keyboard.event(named: table.name(ofEvent: old)),
        bound.contains(where: { $0.events.contains { $0.event == event && $0.timing == use } })
      else { continue }
      _ = kept.bind(use, to: event)
    }
    return kept
  }
}
