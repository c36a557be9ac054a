import KeyboardModes

/// What a virtual keyboard types for the states of Shift: left Shift is down while the state is
/// `on`, at most for a set time, and ``CapsLock`` is on while the state is `capsLock`.
///
/// | what is known                               | Shift            | Caps Lock                   |
/// | ------------------------------------------- | ---------------- | --------------------------- |
/// | a change to `on`                            | down, for a time | unwanted                    |
/// | a change to `capsLock`                      | up               | wanted                      |
/// | a change to another state of Shift          | up               | unwanted                    |
/// | a change of another machine                 | as it is         | as it is                    |
/// | the states as they are, without a change    | up               | unwanted                    |
/// | no daemon or a silent one; the program ends | up               | unwanted                    |
/// | no session in front, or one that is locked  | up               | left alone until it is back |
///
/// So a state that was entered unseen has no effect.
public struct ShiftTyping: Sendable {
  /// What to do next.
  public enum Action: Hashable, Sendable {
    /// Press or release Shift.
    case press, release
    /// Press and release Caps Lock.
    case tapCapsLock
    /// Say that Caps Lock does not answer its key. From now on this program does not turn it on.
    case giveUpCapsLock
  }

  private let hasCapsLock: Bool
  /// How long `on` holds Shift down at most, in microseconds; `nil` if `on` does not press Shift.
  private let maxHold: Int64?
  private var caps = CapsLock()
  /// When Shift is released at the latest, in microseconds of the boot clock; `nil` while it is up.
  private var pressedUntil: Int64?
  /// The session in front.
  private var session: String?
  /// The other sessions whose Caps Lock is ours, and whether the LED has answered the tap.
  private var oursElsewhere: [String: Bool] = [:]
  private var isEnding = false

  /// - Parameters:
  ///   - hasCapsLock: whether `capsLock` turns Caps Lock on.
  ///   - maxHold: how long `on` holds Shift down at most; `nil` if `on` does not press Shift.
  ///   - ours: the value that ``ours`` had at the end of the previous process.
  public init(hasCapsLock: Bool, oneShot maxHold: Duration?, ours: Set<String> = []) {
    self.hasCapsLock = hasCapsLock
    self.maxHold = maxHold?.wholeMicroseconds
    for session in ours { oursElsewhere[session] = true }
    caps.mayBeDark = !ours.isEmpty
  }

  /// The sessions whose Caps Lock is on by a tap of this program, as far as is known.
  public var ours: Set<String> {
    let others = Set(oursElsewhere.keys)
    return caps.phase == .notOurs ? others : others.union(session.map { [$0] } ?? [])
  }

  /// Whether Shift is down, or the Caps Lock of the session in front is ours.
  public var isActive: Bool { pressedUntil != nil || caps.phase != .notOurs }

  /// Whether a daemon that hangs would leave Shift down, or Caps Lock on.
  public var needsDaemon: Bool {
    pressedUntil != nil || caps.phase != .notOurs && caps.led != .unknown
  }

  /// When to call ``passTime(to:)``, in microseconds of the boot clock.
  public var deadline: Int64? { [pressedUntil, caps.phaseEnd].compactMap { $0 }.min() }

  /// Handles an update of the states, and returns the actions that the update causes.
  ///
  /// - Parameters:
  ///   - session: the name of the session in front, if there is one.
  ///   - isOnXorg: whether Xorg shows that session.
  ///   - now: the time, in microseconds of the boot clock.
  public mutating func handle(
    _ update: StatesUpdate, in session: String, isOnXorg: Bool, at now: Int64
  ) -> [Action] {
    switch update {
    case .states(let states, let change):
      if session != self.session { noteInFront(session, isOnXorg: isOnXorg, at: now) }
      let led = states.states[.caps].flatMap(LockRules.State.init(rawValue:)) ?? .unknown
      let capsAction = [caps.update(led, at: now)].compactMap { $0 }
      if let change, change.machine != .shift { return capsAction }
      return capsAction + enter(change == nil ? nil : states[.shift], at: now)
    case .unknown(.noDaemon): return loseDaemon(at: now)
    case .unknown(.sessionNotInFront(let reason)):
      if let session = self.session, caps.phase != .notOurs {
        let unanswered: [CapsLock.Phase] = [.awaitsOn, .late, .settling(isAnswered: false)]
        oursElsewhere[session] = !unanswered.contains(caps.phase)
      }
      let mayBeDark = caps.mayBeDark || self.session != nil && reason != .locked
      self.session = nil
      caps = CapsLock(mayBeDark: mayBeDark, turnsOn: caps.turnsOn)
      return release()
    }
  }

  /// Counts all states as left, because the daemon does not report changes any more.
  public mutating func loseDaemon(at now: Int64) -> [Action] {
    enter(nil, at: now) + [caps.update(.unknown, at: now)].compactMap { $0 }
  }

  /// Ends: from now on all states count as left.
  public mutating func end(at now: Int64) -> [Action] {
    isEnding = true
    return enter(nil, at: now)
  }

  /// Does what is due by now.
  public mutating func passTime(to now: Int64) -> [Action] {
    let isOver = pressedUntil.map { $0 <= now } ?? false
    return (isOver ? release() : []) + [caps.passTime(to: now)].compactMap { $0 }
  }

  private mutating func noteInFront(_ session: String, isOnXorg: Bool, at now: Int64) {
    self.session = session
    if !isOnXorg { caps.mayBeDark = false }
    guard let isAnswered = oursElsewhere.removeValue(forKey: session) else { return }
    (caps.phase, caps.phaseEnd) = (.settling(isAnswered: isAnswered), now + CapsLock.settlingTime)
  }

  /// Takes the state of Shift that a change led to; `nil` without a change, and if all states count
  /// as left.
  private mutating func enter(_ state: String?, at now: Int64) -> [Action] {
    let isWanted = state == "capsLock" && hasCapsLock && !isEnding
    let left = release() + [caps.want(isWanted, at: now)].compactMap { $0 }
    guard state == "on", let maxHold, !isEnding else { return left }
    pressedUntil = now + maxHold
    return left + [.press]
  }

  private mutating func release() -> [Action] {
    defer { pressedUntil = nil }
    return pressedUntil == nil ? [] : [.release]
  }
}
