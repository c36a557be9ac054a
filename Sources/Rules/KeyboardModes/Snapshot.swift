/// The states of all machines after one change of the sequence.
public struct Modes: Hashable, Sendable {
  /// The number of the last change; 0 before the first.
  public let sequence: Int64
  /// The state of the Shift machine.
  public let shift: String
  /// The time of the change that entered it; `nil` before the first change.
  public let shiftSince: Time?
  /// The state of the keyboard machine.
  public let keyboard: String
  /// The time of the change that entered it; `nil` before the first change.
  public let keyboardSince: Time?
  /// The states of the locks.
  public let locks: LockStates

  /// Each parameter is the property of its name.
  public init(
    sequence: Int64, shift: String, shiftSince: Time?, keyboard: String, keyboardSince: Time?,
    locks: LockStates = LockStates()
  ) {
    self.sequence = sequence
    (self.shift, self.shiftSince) = (shift, shiftSince)
    (self.keyboard, self.keyboardSince) = (keyboard, keyboardSince)
    self.locks = locks
  }
}

extension Controller {
  /// The part of a controller's state from which another controller can continue. Held keys are not
  /// part of it: the devices report them.
  public struct Snapshot: Hashable, Sendable {
    /// The states, and when they were entered.
    public let modes: Modes
    /// The state of the Shift machine, which knows more than its name in ``modes``.
    public let shift: ShiftRules.State
    /// When the press of the present `on` was found, if its own time is unknown.
    public let shiftFound: Time?
    /// The releases that will send an event.
    public let awaitedReleases: [AwaitedRelease]

    /// Each parameter is the property of its name.
    public init(
      modes: Modes, shift: ShiftRules.State, shiftFound: Time? = nil,
      awaitedReleases: [AwaitedRelease] = []
    ) {
      (self.modes, self.shift, self.shiftFound) = (modes, shift, shiftFound)
      self.awaitedReleases = awaitedReleases
    }
  }
}

/// The release of a key that the next controller has to await.
public struct AwaitedRelease: Hashable, Sendable {
  /// The key.
  public let key: KeyCode
  /// The name of the event that its release sends.
  public let event: String

  /// The release of `key`, which sends `event`.
  public init(key: KeyCode, event: String) { (self.key, self.event) = (key, event) }
}
