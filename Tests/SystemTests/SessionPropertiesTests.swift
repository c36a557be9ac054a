import Testing

@testable import System

@Suite("A session as logind tells of it")
struct SessionPropertiesTests {
  private static let path = "/org/freedesktop/login1/session/_31"

  private func properties(isLocked: Bool) -> BusValue {
    let seat = BusValue.structure([.string("seat0"), .string("/org/freedesktop/login1/seat/x")])
    return .array(
      of: "{sv}",
      [
        .entry(.string("Seat"), .variant(seat)),
        .entry(.string("Active"), .variant(.bool(true))),
        .entry(.string("LockedHint"), .variant(.bool(isLocked))),
      ])
  }

  private func change(isLocked: Bool) -> BusValue {
    .array(of: "{sv}", [.entry(.string("LockedHint"), .variant(.bool(isLocked)))])
  }

  private func locked() -> SessionProperties {
    var session = SessionProperties()
    #expect(session.follow(Self.path) == true)
    #expect(session.handle(allProperties: properties(isLocked: true)) == .absent(.locked))
    return session
  }

  /// All properties, with these instead of a good `LockedHint`.
  private func properties(lock: [BusValue]) -> BusValue {
    let others = properties(isLocked: false).elements?.dropLast() ?? []
    return .array(of: "{sv}", others + lock)
  }

  @Test("a session counts as locked until logind says in the right type that it is not")
  func unknown() {
    let text = BusValue.entry(.string("LockedHint"), .variant(.string("no")))
    for lock in [[], [text]] {
      var session = SessionProperties()
      #expect(session.follow(Self.path) == true)
      #expect(session.handle(allProperties: properties(lock: lock)) == .absent(.locked))
      #expect(session.handle(changedProperties: change(isLocked: false)) == .inFront)
      #expect(session.handle(changedProperties: .array(of: "{sv}", [text])) == .absent(.locked))
      #expect(session.handle(changedProperties: change(isLocked: false)) == .inFront)
      #expect(session.handle(allProperties: properties(lock: lock)) == .absent(.locked))
      // A change of something else tells nothing of the lock.
      let other = BusValue.entry(.string("IdleHint"), .variant(.bool(true)))
      #expect(session.handle(changedProperties: change(isLocked: false)) == .inFront)
      #expect(session.handle(changedProperties: .array(of: "{sv}", [other])) == .inFront)
    }
  }

  @Test("a session is on Xorg if logind says so", arguments: ["x11", "wayland", "tty", nil])
  func xorg(_ type: String?) {
    var session = SessionProperties()
    #expect(session.follow(Self.path) == true)
    let entries = type.map { [BusValue.entry(.string("Type"), .variant(.string($0)))] } ?? []
    _ = session.handle(allProperties: .array(of: "{sv}", entries))
    #expect(session.isOnXorg == (type == "x11"))
  }

  @Test(
    "a greeter's session is in front for its own programs, and for others as if there were none",
    arguments: [
      ("greeter", false), ("lock-screen", false), ("user", true), ("user-early", true), (nil, true),
    ] as [(String?, Bool)])
  func greeter(_ kind: String?, _ isOfUser: Bool) {
    let entry = kind.map { BusValue.entry(.string("Class"), .variant(.string($0))) }
    let all = BusValue.array(
      of: "{sv}", (properties(isLocked: false).elements ?? []) + [entry].compactMap { $0 })
    let active = BusValue.array(
      of: "{sv}", [.entry(.string("Active"), .variant(.bool(true)))])
    for acceptsGreeter in [true, false] {
      var session = SessionProperties(acceptsGreeter: acceptsGreeter)
      #expect(session.follow(Self.path) == true)
      let presence = acceptsGreeter || isOfUser ? SessionPresence.inFront : .absent(.noSession)
      #expect(session.handle(allProperties: all) == presence)
      // A change does not tell the class again.
      #expect(session.handle(changedProperties: active) == presence)
    }
  }

  @Test("a session is locked and unlocked by changes; one before all properties tells nothing")
  func changes() {
    var session = SessionProperties()
    #expect(session.follow(Self.path) == true)
    #expect(session.handle(changedProperties: change(isLocked: true)) == nil)
    #expect(session.handle(allProperties: properties(isLocked: false)) == .inFront)
    #expect(session.handle(changedProperties: change(isLocked: true)) == .absent(.locked))
    #expect(session.handle(changedProperties: change(isLocked: false)) == .inFront)
  }

  @Test("a lock that logind has forgotten lasts until a change", arguments: [false, true])
  func forgotten(_ isLost: Bool) {
    var session = locked()
    session.rememberLock()
    // logind may be so slow after its start that its first answers do not come in time.
    if isLost { session.unfollow() }
    #expect(session.follow(Self.path) == isLost)
    #expect(session.handle(allProperties: properties(isLocked: false)) == .absent(.locked))
    #expect(session.handle(allProperties: properties(isLocked: false)) == .absent(.locked))
    session.rememberLock()
    #expect(session.handle(changedProperties: change(isLocked: false)) == .inFront)
    #expect(session.handle(allProperties: properties(isLocked: false)) == .inFront)
  }

  @Test("a change unlocks a forgotten lock also where it comes before all properties")
  func unlockedEarly() {
    var session = locked()
    session.rememberLock()
    session.unfollow()
    #expect(session.follow(Self.path) == true)
    #expect(session.handle(changedProperties: change(isLocked: false)) == nil)
    #expect(session.handle(allProperties: properties(isLocked: false)) == .inFront)
  }

  @Test("a lock lasts also if logind ends while nothing tells of the session")
  func forgottenUnseen() {
    var session = locked()
    session.unfollow()
    session.rememberLock()
    #expect(session.follow(Self.path) == true)
    #expect(session.handle(allProperties: properties(isLocked: false)) == .absent(.locked))
    #expect(session.handle(changedProperties: change(isLocked: false)) == .inFront)
    session.unfollow()
    session.rememberLock()
    #expect(session.follow(Self.path) == true)
    #expect(session.handle(allProperties: properties(isLocked: false)) == .inFront)
  }

  @Test("a lock that logind has not forgotten is what logind says")
  func known() {
    var session = locked()
    session.unfollow()
    #expect(session.follow(Self.path) == true)
    #expect(session.handle(allProperties: properties(isLocked: false)) == .inFront)
  }

  @Test("a forgotten lock is not that of another session")
  func another() {
    var session = locked()
    session.rememberLock()
    #expect(session.follow("/org/freedesktop/login1/session/_32") == true)
    #expect(session.handle(allProperties: properties(isLocked: false)) == .inFront)
  }
}
