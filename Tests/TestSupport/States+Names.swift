public import KeyboardModes

/// The states of both locks.
public struct LockStates: Hashable, Sendable {
  private let caps, num: LockRules.State

  /// Locks in these states.
  public init(caps: LockRules.State = .unknown, num: LockRules.State = .unknown) {
    (self.caps, self.num) = (caps, num)
  }

  /// The state of one lock.
  public subscript(lock: Lock) -> LockRules.State { lock == .caps ? caps : num }
}

extension States {
  /// States of the shipped machines, and of others.
  public init(
    sequence: Int64, shift: String, shiftSince: Time?, keyboard: String, keyboardSince: Time?,
    locks: LockStates = LockStates(), own: [Entry] = []
  ) {
    self.init(
      sequence: sequence,
      [Entry(.shift, shift, since: shiftSince), Entry(.keyboard, keyboard, since: keyboardSince)]
        + own + Lock.allCases.map { Entry($0.machine, locks[$0].rawValue) })
  }

  /// The state of the Shift machine.
  public var shift: String { self[.shift] ?? "" }
  /// The time of the change that entered it.
  public var shiftSince: Time? { since(.shift) }
  /// The state of the keyboard machine.
  public var keyboard: String { self[.keyboard] ?? "" }
  /// The time of the change that entered it.
  public var keyboardSince: Time? { since(.keyboard) }
  /// The states of the locks.
  public var locks: LockStates {
    func state(_ machine: MachineName) -> LockRules.State {
      self[machine].flatMap(LockRules.State.init(rawValue:)) ?? .unknown
    }
    return LockStates(caps: state(.caps), num: state(.num))
  }
}
