import CLinux
import Glibc

/// Whether the person at this machine's keyboards is in the session that is followed.
public enum SessionPresence: Hashable, Sendable {
  /// The session is the active one of `seat0`, and not locked; or the machine has no sessions,
  /// because it has no systemd-logind.
  case inFront
  /// The session is not in front, for this reason.
  case absent(Reason)

  /// Why a session is not in front.
  public enum Reason: Hashable, Sendable, CustomStringConvertible {
    /// There is no session: this process has none, or no user has the seat.
    case noSession
    /// The session is not on the machine's first seat, `seat0`: it came over the network, for
    /// example.
    case noSeat
    /// Another session of the seat is the active one.
    case inactive
    /// The screen is locked.
    case locked
    /// systemd-logind does not answer.
    case noAnswer
    /// The machine goes to sleep, or wakes up.
    case asleep

    /// The message for the user.
    public var description: String {
      switch self {
      case .noSession: "this user has no session on a seat"
      case .noSeat: "this session is not on seat0"
      case .inactive: "this session is not the active one of its seat"
      case .locked: "this session is locked"
      case .noAnswer: "systemd-logind does not answer"
      case .asleep: "this machine goes to sleep"
      }
    }
  }
}

/// Follows a session, by the D-Bus interface of systemd-logind.
///
/// See `org.freedesktop.login1(5)`. The loop wakes up when a session begins, ends or changes.
public final class LoginSession {
  /// Which session to follow.
  public enum Choice: Sendable {
    /// The session that this process belongs to. If it belongs to none, as in a unit of the user's
    /// service manager, the session that logind calls the user's display: a graphical session, if
    /// there is one.
    case own
    /// The active session of the machine's first seat, `seat0`, of any user. A session that becomes
    /// active counts as absent until logind has described it. A greeter counts as no session.
    case activeOfSeat
  }

  /// The presence that `notify` received last.
  public private(set) var presence: SessionPresence?
  /// The name of the session: the path of its object on the bus; `-` before there is one.
  public private(set) var name = "-"

  /// Whether logind says that the session runs on Xorg.
  public var isOnXorg: Bool { session.isOnXorg }

  /// Whether a sleep must wait, for example until a command has ended. Has an effect only with
  /// `followsSleep`. logind waits for 5 s at most, unless it is configured otherwise.
  public var delaysSleep = false { didSet { allowSleep() } }

  /// The ID of the user of the active session of `seat0`, which may be a greeter; `nil` for none.
  public static var userInFront: UInt32? {
    var user: UInt32 = 0
    return sd_seat_get_active("seat0", nil, &user) >= 0 ? user : nil
  }

  /// Whether systemd-logind runs. See `sd-login(3)`, which looks at the same folder.
  public static var isLogindRunning: Bool { access("/run/systemd/seats/", F_OK) == 0 }

  /// The ID of the person in front: the user of this session while it is in front, locked or not.
  /// Whenever it changes, ``presence`` does too.
  public var person: UInt32? {
    switch presence {
    case .inFront, .absent(.locked): session.user
    case .absent, nil: nil
    }
  }

  private let choice: Choice
  private let followsSleep: Bool
  private let loop: EventLoop
  private let notify: (SessionPresence) -> Void
  /// logind's ID of the session that this process was in at first: the process may move to a unit.
  private let ownSessionID = ServiceManager.ofThisProcess(sd_pid_get_session)
  private var bus: Bus?
  // The closures hold this object `unowned`, because it owns the timer and slots that call them.
  // An answer may come after the end of this object, so `ask` and `inhibitSleep` hold it `weak`.
  /// The slots that last as long as the connection.
  private var slots: [BusSlot] = []
  /// The slots for the signals of the present session.
  private var sessionSlots: [BusSlot] = []
  private var session: SessionProperties
  private var retry: EventSource?
  /// The screen savers of this process's session; `nil` for ``Choice/activeOfSeat``.
  private var screenSavers: ScreenSavers?
  /// Whether logind's last request was to lock the session. Most lockers do not request an unlock.
  private var isLockRequested = false
  /// The presence by logind alone, before screen savers are considered.
  private var presenceByLogind: SessionPresence?
  /// Whether logind has said that the machine goes to sleep, and not yet that it has woken up.
  private var isPreparingForSleep = false
  /// logind's inhibitor lock: a sleep waits until it is closed, but at most `InhibitDelayMaxSec`.
  private var sleepInhibitor: FileDescriptor?
  /// The number of the last round of questions. Answers to older rounds are ignored.
  private var round = 0

  /// Follows the session. Calls `notify`, from the loop, with the presence once it is known, and
  /// whenever it changes.
  ///
  /// - Parameter followsSleep: whether the session counts as absent while the machine goes to sleep
  ///   and wakes up.
  /// - Throws: if the loop refuses a timer.
  public init(
    _ choice: Choice = .own, followsSleep: Bool = false, on loop: EventLoop,
    notify: @escaping (SessionPresence) -> Void
  ) throws(SystemError) {
    (self.choice, self.followsSleep, self.loop, self.notify) = (choice, followsSleep, loop, notify)
    session = SessionProperties(acceptsGreeter: choice == .own)
    if choice == .own {
      screenSavers = try ScreenSavers(on: loop) { [unowned self] in notifyIfChanged() }
    }
    // The loop connects later, so that `notify` is not called before the caller has this object.
    retry = try loop.addTimer { [unowned self] in connect() }
    retry?.set(at: 0)
  }

  // MARK: - The connection

  private func connect() {
    do throws(SystemError) {
      let bus = try Bus(.system, on: loop)
      slots = [
        try bus.whenLost { [unowned self] in disconnect() },
        // Most of these signals tell that a session began or ended.
        try bus.signals(Login1.signals(of: Login1.manager, at: Login1.path)) {
          [unowned self] _ in find()
        },
        // logind ends or starts.
        try bus.whenOwnerChanges(of: Login1.name) { [unowned self] owner in
          if owner != nil { begin() } else { loseLogind() }
        },
      ]
      if choice == .activeOfSeat {
        slots.append(
          try bus.signals(Login1.changes(of: Login1.seat, at: Login1.seatPath)) {
            [unowned self] _ in find()
          })
      }
      if followsSleep {
        slots.append(
          try bus.signals(Login1.signals(of: Login1.manager, at: Login1.path) + Login1.sleepMember)
          {
            [unowned self] values in sleep(isOver: values.first?.bool == false)
          })
      }
      self.bus = bus
      begin()
    } catch {
      // No socket of the bus means no logind: the socket exists even while nothing listens on it.
      if presenceByLogind == nil, error.code == ENOENT { update(.inFront) } else { disconnect() }
    }
  }

  /// Gives up the connection, reports the session as absent, and has the loop connect again in 5 s.
  private func disconnect() {
    // A new round, so that the errors which end the connection's calls are ignored.
    round += 1
    isPreparingForSleep = false
    update(.absent(.noAnswer))
    (slots, sessionSlots, bus) = ([], [], nil)
    sleepInhibitor = nil
    session.unfollow()
    retry?.set(after: .seconds(5))
  }

  /// Reports the session as absent, because logind has ended, and remembers a lock that logind
  /// reported.
  private func loseLogind() {
    round += 1
    isPreparingForSleep = false
    session.rememberLock()
    update(.absent(.noAnswer))
  }

  /// Reports that the machine goes to sleep; if `isOver`, then finds the session again. The end of
  /// a sleep reports the sleep too, because the sleep may have begun before this program.
  private func sleep(isOver: Bool) {
    isPreparingForSleep = true
    update(.absent(.asleep))
    allowSleep()
    guard isOver else { return }
    isPreparingForSleep = false
    begin()
  }

  /// Finds the session and inhibits sleep: after a connection, a start of logind, or a sleep.
  private func begin() {
    find()
    inhibitSleep()
  }

  /// Has the next sleep wait until ``allowSleep()``. The sleep does not wait if logind refuses the
  /// lock.
  private func inhibitSleep() {
    guard followsSleep else { return }
    bus?.call(Login1.inhibitSleep) { [weak self] answer in
      guard let self, case .descriptor(let number)? = try? answer.get().first else { return }
      sleepInhibitor = try? FileDescriptor.duplicating(number, named: "a lock of systemd-logind")
      allowSleep()
    }
  }

  /// Releases the lock if the machine is about to sleep and ``delaysSleep`` is `false`.
  private func allowSleep() {
    if isPreparingForSleep, !delaysSleep { sleepInhibitor = nil }
  }

  private func update(_ presence: SessionPresence) {
    presenceByLogind = isPreparingForSleep ? .absent(.asleep) : presence
    notifyIfChanged()
  }

  /// Calls `notify` if the presence has changed. A session in front counts as locked while a screen
  /// saver covers it, or may cover it. The first call of `notify` waits for the savers' answers.
  private func notifyIfChanged() {
    guard var presence = presenceByLogind else { return }
    if presence == .inFront, let screenSavers {
      let isCovered = screenSavers.isScreenCovered(isLockRequested: isLockRequested)
      if isCovered == nil, self.presence == nil { return }
      if isCovered != false { presence = .absent(.locked) }
    }
    guard presence != self.presence else { return }
    self.presence = presence
    notify(presence)
  }

  // MARK: - Finding the session

  /// Asks logind for the session that ``Choice`` describes, and follows that session.
  private func find() {
    round += 1
    let call =
      switch choice {
      case .own: Login1.managerCall("GetSession", ownSessionID ?? "auto")
      case .activeOfSeat: BusCall.getAll(of: Login1.seat, at: Login1.seatPath, from: Login1.name)
      }
    ask(call) { [unowned self] answer in
      guard let first = values(in: answer)?.first else { return }
      // `ActiveSession` is a name and a path; without an active session, the path is `/`.
      let path = choice == .own ? first.text : first["ActiveSession"]?.elements?.last?.text
      switch path {
      case "/"?:
        endSession()
        update(.absent(.noSession))
      case let path?: follow(path)
      case nil: disconnect()
      }
    }
  }

  /// Asks, and calls `answered` unless a later round of questions has begun by then.
  private func ask(
    _ call: BusCall, answered: @escaping (Result<[BusValue], BusError>) -> Void
  ) {
    let asked = round
    bus?.call(call) { [weak self] answer in if asked == self?.round { answered(answer) } }
  }

  /// The values of an answer about the session. If the answer is an error, updates the presence and
  /// returns `nil`.
  private func values(in answer: Result<[BusValue], BusError>) -> [BusValue]? {
    switch answer {
    case .success(let values): return values
    case .failure(let error) where Login1.isMissing(error):
      endSession()
      update(.absent(.noSession))
    // logind may not have answered in time, or is about to start.
    case .failure: if Self.isLogindRunning { disconnect() } else { update(.inFront) }
    }
    return nil
  }

  // MARK: - The session

  private func follow(_ path: String) {
    let interface = Login1.interface("Session")
    if session.follow(path) {
      if choice == .activeOfSeat { update(.absent(.inactive)) }
      name = path
      isLockRequested = false
      if let bus { sessionSlots = (try? followSession(at: path, on: bus)) ?? [] }
    }
    ask(.getAll(of: interface, at: path, from: Login1.name)) { [unowned self] answer in
      guard let all = values(in: answer)?.first else { return }
      update(session.handle(allProperties: all))
    }
  }

  private func followSession(at path: String, on bus: Bus) throws(SystemError) -> [BusSlot] {
    let interface = Login1.interface("Session")
    let changes = try bus.signals(Login1.changes(of: interface, at: path)) {
      [unowned self] values in
      guard values.count > 1 else { return }
      if let presence = session.handle(changedProperties: values[1]) { update(presence) }
    }
    let requests = Login1.signals(of: interface, at: path)
    let lockRequests = try bus.signals("\(requests),member='Lock'") { [unowned self] _ in
      request(lock: true)
    }
    let unlockRequests = try bus.signals("\(requests),member='Unlock'") {
      [unowned self] _ in request(lock: false)
    }
    return [changes, lockRequests, unlockRequests]
  }

  private func request(lock isLockRequested: Bool) {
    self.isLockRequested = isLockRequested
    notifyIfChanged()
  }

  private func endSession() {
    sessionSlots = []
    session.unfollow()
  }
}

/// systemd-logind on the bus.
private enum Login1 {
  static let name = "org.freedesktop.login1"
  static let path = "/org/freedesktop/login1"
  static let manager = interface("Manager")
  static let seat = interface("Seat")
  static let seatPath = "\(path)/seat/seat0"
  /// Narrows the rule for the manager's signals to `PrepareForSleep`. Its value is `true` before a
  /// sleep and `false` after the sleep.
  static let sleepMember = ",member='PrepareForSleep'"

  /// Whether the error says that the session does not exist, or that this process has none.
  static func isMissing(_ error: BusError) -> Bool {
    [
      "org.freedesktop.DBus.Error.UnknownObject", "\(name).NoSuchSession",
      "\(name).NoSessionForPID",
    ].contains(error.name)
  }

  static func interface(_ kind: String) -> String { "\(name).\(kind)" }

  /// The call for a lock that delays a sleep. `systemd-inhibit --list` shows its name and reason.
  static let inhibitSleep = managerCall(
    "Inhibit", "sleep", "keymodectl", "ends a command first", "delay")

  static func managerCall(_ member: String, _ arguments: String...) -> BusCall {
    BusCall(
      to: name, path: path, interface: manager, member: member, arguments.map(BusValue.string))
  }

  /// The rule for the signals of an interface.
  static func signals(of interface: String, at path: String) -> String {
    "sender='\(name)',path='\(path)',interface='\(interface)'"
  }

  /// The rule for changes of the properties of an interface. The signal has the interface's name, a
  /// dictionary of changed properties, and the names of changed properties without their values.
  static func changes(of interface: String, at path: String) -> String {
    signals(of: "org.freedesktop.DBus.Properties", at: path) + ",arg0='\(interface)'"
  }
}
