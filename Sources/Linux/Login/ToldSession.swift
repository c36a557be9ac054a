/// A session, as logind tells of it.
struct ToldSession {
  private var path: String?
  /// The path of the session if it was locked when logind last told of it.
  private var lockedPath: String?
  /// The path of the session that was locked when logind ended. The next logind does not know of
  /// the lock, so only a change unlocks the session.
  private var forgottenLock: String?

  /// Follows the session at `path`. Returns `false` if it follows that session already.
  mutating func follow(_ path: String) -> Bool {
    guard path != self.path else { return false }
    self.path = path
    if path != forgottenLock { forgottenLock = nil }
    return true
  }

  /// Nothing tells of the session any more, or it has ended. A lock stays forgotten: logind may be
  /// too slow to answer just because it was restarted.
  mutating func lose() { path = nil }

  /// logind has ended.
  mutating func forgetLock() {
    if let lockedPath { forgottenLock = lockedPath }
  }

  /// These properties have changed: logind knows again whether the session is locked, if that did.
  mutating func change(_ values: BusValue) {
    if values["LockedHint"]?.bool != nil { forgottenLock = nil }
  }

  /// Takes the values of all properties.
  mutating func take(_ values: BusValue) -> SessionPresence {
    // It counts as locked until logind tells otherwise.
    let isLocked = forgottenLock != nil || values["LockedHint"]?.bool ?? true
    lockedPath = isLocked ? path : nil
    // The daemon follows the keyboards of this seat alone.
    guard values["Seat"]?.elements?.first?.text == "seat0" else { return .absent(.noSeat) }
    guard values["Active"]?.bool == true else { return .absent(.inactive) }
    return isLocked ? .absent(.locked) : .inFront
  }
}
