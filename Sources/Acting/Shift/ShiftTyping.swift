import KeyboardModes
import StateMachines

/// What a virtual keyboard does so that the states of Shift type: left Shift is down while the state
/// is `on`, for one shot, and Caps Lock is on while it is `capsLock`.
///
/// | what is known                                    | Shift            | Caps Lock             |
/// | ------------------------------------------------ | ---------------- | --------------------- |
/// | a change to `on`                                  | down, for a time | `left`                |
/// | a change to `capsLock`                            | up               | `entered`             |
/// | a change to another state of Shift                | up               | `left`                |
/// | a change of another machine                       | as it is         | told its LED          |
/// | the states as they are, without a change          | up               | `left`                |
/// | no daemon, a silent one, or the program ends      | up               | `left`                |
/// | no session in front, or one that is locked        | up               | kept for that session |
///
/// So a state that is only found never acts. ``CapsLockRules`` have the events of Caps Lock.
public struct ShiftTyping: Sendable {
  /// What to do, in this order.
  public enum Action: Hashable, Sendable {
    /// Press or release Shift.
    case press, release
    /// Press and release Caps Lock.
    case tapCapsLock
    /// Say that Caps Lock does not answer its key, and is left alone from now on.
    case giveUpCapsLock
  }

  private let hasCapsLock: Bool
  private let longest: Int64?

  private var caps = StateMachine(CapsLockRules())
  private var led = CapsLockRules.LED.unknown
  /// When Shift is released at the latest; `nil` while it is up.
  private var pressedUntil: Int64?
  /// The session in front.
  private var session: String?
  /// The other sessions whose Caps Lock is ours, and whether the LED has answered the tap.
  private var elsewhere: [String: Bool] = [:]
  private var isEnding = false

  /// - Parameters:
  ///   - hasCapsLock: whether `capsLock` turns Caps Lock on.
  ///   - longest: how long `on` holds Shift down at most; `nil` if it does not at all.
  ///   - ours: ``ours`` of the program that ran before.
  public init(hasCapsLock: Bool, oneShot longest: Duration?, ours: Set<String> = []) {
    self.hasCapsLock = hasCapsLock
    self.longest = longest?.wholeMicroseconds
    for session in ours { elsewhere[session] = true }
  }

  /// The sessions whose Caps Lock is on by a tap of this program, as far as is known.
  public var ours: Set<String> {
    let others = Set(elsewhere.keys)
    guard let session, caps.state != .notOurs else { return others }
    return others.union([session])
  }

  /// Whether Shift is down, or a Caps Lock of the session in front is ours.
  public var isActive: Bool { pressedUntil != nil || caps.state != .notOurs }

  /// Whether the daemon's next news matter at once.
  public var isWaiting: Bool { isActive && led != .unknown || pressedUntil != nil }

  /// When to call ``pass(at:)``, in microseconds of the boot clock.
  public var deadline: Int64? {
    [pressedUntil, caps.state.until].compactMap { $0 }.min()
  }

  /// Takes what has become known.
  ///
  /// - Parameters:
  ///   - session: the name of the session in front, if there is one.
  ///   - now: the time, in microseconds of the boot clock.
  public mutating func take(
    _ occurrence: Occurrence, in session: String, at now: Int64
  ) -> [Action] {
    switch occurrence {
    case .states(let states, let change):
      if session != self.session { come(to: session, at: now) }
      let told = tell(states.modes.locks[.caps], at: now)
      guard let change else { return told + leave(at: now) }
      guard change.machine == .shift else { return told }
      return told + enter(states[.shift], at: now)
    case .unknown(.noDaemon): return lose(at: now)
    case .unknown(.sessionNotInFront):
      if let session = self.session, caps.state != .notOurs {
        elsewhere[session] = caps.state.isAnswered
      }
      (self.session, led) = (nil, .unknown)
      caps = StateMachine(caps.rules)
      return release()
    }
  }

  /// The daemon does not tell of changes any more: its states count as left.
  public mutating func lose(at now: Int64) -> [Action] {
    defer { led = .unknown }
    return leave(at: now)
  }

  /// Leaves all states for good.
  public mutating func end(at now: Int64) -> [Action] {
    isEnding = true
    return leave(at: now)
  }

  /// Does what is due by now.
  public mutating func pass(at now: Int64) -> [Action] {
    var actions: [Action] = []
    if let pressedUntil, pressedUntil <= now { actions += release() }
    if let until = caps.state.until, until <= now { actions += send(.due(led, at: now)) }
    return actions
  }

  private mutating func come(to session: String, at now: Int64) {
    self.session = session
    guard let isAnswered = elsewhere.removeValue(forKey: session) else { return }
    let until = now + CapsLockRules.settling
    caps = StateMachine(
      caps.rules, in: .settling(isWanted: false, isAnswered: isAnswered, until: until))
  }

  private mutating func tell(_ led: CapsLockRules.LED, at now: Int64) -> [Action] {
    guard led != self.led else { return [] }
    self.led = led
    return send(.told(led, at: now))
  }

  private mutating func enter(_ state: String?, at now: Int64) -> [Action] {
    switch state {
    case "on" where longest != nil && !isEnding:
      let left = send(.left(led, at: now))
      pressedUntil = now + (longest ?? 0)
      return left + [.press]
    case "capsLock" where hasCapsLock && !isEnding:
      return release() + send(.entered(led, at: now))
    default: return leave(at: now)
    }
  }

  private mutating func leave(at now: Int64) -> [Action] {
    release() + send(.left(led, at: now))
  }

  private mutating func release() -> [Action] {
    guard pressedUntil != nil else { return [] }
    pressedUntil = nil
    return [.release]
  }

  private mutating func send(_ event: CapsLockRules.Event) -> [Action] {
    guard let step = caps.take(event),
      let action = caps.rules.action(from: step.from, to: step.to, on: event)
    else { return [] }
    switch action {
    case .tap: return [.tapCapsLock]
    case .giveUp:
      caps = StateMachine(CapsLockRules(turnsOn: false), in: caps.state)
      return [.giveUpCapsLock]
    }
  }
}
