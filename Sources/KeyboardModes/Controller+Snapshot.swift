extension Controller {
  /// The part of a controller's state from which another controller can continue. Held keys are not
  /// part of it: the devices report them.
  public struct Snapshot: Hashable, Sendable {
    /// The states, and when they were entered.
    public let modes: Modes
    /// The state of the Shift machine, which knows more than its name in ``modes``.
    public let shift: ShiftRules.State
    /// The releases that will send an event.
    public var awaitedReleases: [AwaitedRelease]
  }

  /// A snapshot from which another controller can continue.
  public var snapshot: Snapshot {
    Snapshot(modes: modes, shift: shift.state, awaitedReleases: awaitedReleases)
  }
}

extension Controller.Snapshot {
  /// The snapshot with these parts; see ``Modes``.
  public init(
    sequence: Int64, shift: ShiftRules.State, shiftSince: Time?, keyboard: String,
    keyboardSince: Time?, awaitedReleases: [AwaitedRelease] = []
  ) {
    let modes = Modes(
      sequence: sequence, shift: shift.name, shiftSince: shiftSince, keyboard: keyboard,
      keyboardSince: keyboardSince)
    self.init(modes: modes, shift: shift, awaitedReleases: awaitedReleases)
  }
}
