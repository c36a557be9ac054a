/// The properties of a session, as logind reports them.
struct SessionProperties {
  private struct Properties {
    var hasSeat = false
    var isActive = false
    /// Whether the session belongs to no user but, for example, to a greeter. This never changes.
    var isGreeter = false
    var isOnXorg = false
    /// Whether the session is locked. It counts as locked until logind says that it is not.
    var isLocked = true
    var user: UInt32?

    var presence: SessionPresence {
      if !hasSeat { return .absent(.noSeat) }
      if !isActive { return .absent(.inactive) }
      return isLocked ? .absent(.locked) : .inFront
    }

    mutating func update(_ values: BusValue, keepingLock isLockKept: Bool = false) {
      // The daemon follows the keyboards of `seat0` alone.
      if let seat = values["Seat"]?.elements?.first?.text { hasSeat = seat == "seat0" }
      if let isActive = values["Active"]?.bool { self.isActive = isActive }
      if let user = values["User"]?.elements?.first?.number { self.user = user }
      if let type = values["Type"]?.text { isOnXorg = type == "x11" }
      if let kind = values["Class"]?.text { isGreeter = !kind.hasPrefix("user") }
      if let hint = values["LockedHint"], !isLockKept { isLocked = hint.bool ?? true }
    }
  }

  /// Whether a greeter's session counts like a user's.
  private let acceptsGreeter: Bool
  private var path: String?
  /// The session's properties; `nil` until logind has reported all of them.
  private var properties: Properties?
  /// The path of the session if logind last reported the session as locked; otherwise `nil`.
  private var lockedPath: String?
  /// The path of the session that was locked when logind ended. The next logind does not know of
  /// the lock, so the session stays locked until logind reports a change of `LockedHint`.
  private var forgottenLock: String?

  /// The ID of the session's user; `nil` until it is known.
  var user: UInt32? { properties?.user }

  /// Whether logind says that the session runs on Xorg.
  var isOnXorg: Bool { properties?.isOnXorg == true }

  init(acceptsGreeter: Bool = true) { self.acceptsGreeter = acceptsGreeter }

  /// Follows the session at `path`. Returns `false` if it follows that session already.
  mutating func follow(_ path: String) -> Bool {
    guard path != self.path else { return false }
    (self.path, properties) = (path, nil)
    if path != forgottenLock { forgottenLock = nil }
    return true
  }

  /// Forgets the session, but not ``forgottenLock``: a restarted logind that is too slow to answer
  /// counts as a lost connection.
  mutating func unfollow() { (path, properties) = (nil, nil) }

  /// Remembers a lock that logind forgets, because it has ended.
  mutating func rememberLock() {
    if let lockedPath { forgottenLock = lockedPath }
  }

  /// Handles the values of all properties, and returns the presence that follows from them.
  mutating func handle(allProperties values: BusValue) -> SessionPresence {
    var properties = Properties()
    properties.update(values, keepingLock: forgottenLock != nil)
    return setProperties(properties)
  }

  /// Handles the values of the properties that have changed. Returns `nil` until all properties are
  /// known; logind's answer with all of them includes the change.
  mutating func handle(changedProperties values: BusValue) -> SessionPresence? {
    if values["LockedHint"]?.bool != nil { forgottenLock = nil }
    guard var properties else { return nil }
    properties.update(values)
    return setProperties(properties)
  }

  private mutating func setProperties(_ properties: Properties) -> SessionPresence {
    self.properties = properties
    lockedPath = properties.isLocked ? path : nil
    if properties.isGreeter, !acceptsGreeter { return .absent(.noSession) }
    return properties.presence
  }
}
