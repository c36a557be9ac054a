/// The presses of Shift that sent `shiftPressed`. While its key is down, such a press may turn out
/// to belong to a shortcut. On a phone Shift is pressed for itself; on a keyboard it is mostly held
/// for another key.
///
/// - A Shift pressed while Ctrl, left Alt, Meta, a key that moves the cursor or the button of a
///   pointer is held is part of a shortcut: it sends no event, and is never revocable.
/// - A press that sent `shiftPressed` is *revocable* while its key is down. If a key goes down that
///   types no character, Shift is part of its shortcut: `shiftUsed` takes back this press and all
///   other revocable presses, to the state before the earliest press.
///
///       Shift   P-----------R         P: its press, R: its release
///       Home       P--R
///       state   on off                the state of the Shift machine
///
///   A typed character, a program's event for Shift or the keyboard, a timeout of Shift, a loss of
///   events and new settings confirm all presses: they can no longer be taken back. AltGr does
///   nothing here, and neither do the codes of game pads, fingers and pens.
///
/// With ``Settings/ShiftTrigger/always`` neither rule applies; with `tap` only the first applies.
struct RevocableShifts: Sendable {
  private struct Press: Sendable {
    let key: DeviceKey
    /// The state of the Shift machine before the press.
    let before: ShiftRules.State
    /// When that state would have ended, if it was an `on` with a timeout.
    let due: Time?
  }

  /// In the order of the presses. A press is revocable while its key is down, but stays here when
  /// the key goes up: the release may be undone.
  private var presses: [Press] = []

  /// The keys of the presses on `device`, down or up.
  func keys(of device: DeviceID) -> [KeyCode] {
    presses.filter { $0.key.device == device }.map(\.key.code)
  }

  /// Adds a press of `key`. It replaces an earlier press of this key.
  mutating func press(_ key: DeviceKey, before: ShiftRules.State, due: Time?) {
    forget(key)
    presses.append(Press(key: key, before: before, due: due))
  }

  /// Forgets the press of a key that is pressed again.
  mutating func forget(_ key: DeviceKey) {
    if !presses.isEmpty { presses.removeAll { $0.key == key } }
  }

  mutating func remove(_ device: DeviceID) { presses.removeAll { $0.key.device == device } }

  mutating func removeAll() {
    if !presses.isEmpty { presses.removeAll(keepingCapacity: true) }
  }

  /// Takes back the earliest press whose key is down, or lifted for `key`, and forgets all presses.
  /// Returns the state before that press, or `off` if that state's timeout is over by `time`. If
  /// there is no such press, changes nothing and returns `nil`.
  mutating func takeBack(
    with key: DeviceKey, at time: Time, _ keys: HeldKeys, _ lifted: LiftedShifts
  ) -> ShiftRules.State? {
    let earliest = presses.first { press in
      keys.isDown(press.key)
        || lifted.isShifted(key, by: press.key, at: time, inFrame: true, isCharacter: false)
    }
    guard let earliest else { return nil }
    removeAll()
    if let due = earliest.due, due <= time { return .off }
    return earliest.before
  }
}
