/// The states of all machines after one change of the sequence.
public struct States: Hashable, Sendable {
  /// The state of one machine.
  public struct Entry: Hashable, Sendable {
    /// The machine.
    public let machine: MachineName
    /// Its state.
    public internal(set) var state: String
    /// The time of the change that entered the state; `nil` before the machine's first change.
    public internal(set) var since: Time?

    /// The state of a machine, entered at `since`.
    public init(_ machine: MachineName, _ state: String, since: Time? = nil) {
      (self.machine, self.state, self.since) = (machine, state, since)
    }
  }

  /// The number of the last change; 0 before the first.
  public internal(set) var sequence: Int64

  /// The machines and their states: Shift, the keyboard, the user's own machines in the order of
  /// their names, and the locks.
  public internal(set) var entries: [Entry]

  /// The states after the change with the number `sequence`.
  public init(sequence: Int64, _ entries: [Entry]) {
    (self.sequence, self.entries) = (sequence, entries)
  }

  /// The machines, in the order of ``entries``.
  public var machines: [MachineName] { entries.map(\.machine) }

  /// The state of a machine; `nil` if there is no such machine.
  public subscript(machine: MachineName) -> String? { entry(machine)?.state }

  /// The time of the change that entered a machine's state; `nil` before its first change.
  public func since(_ machine: MachineName) -> Time? { entry(machine)?.since }

  private func entry(_ machine: MachineName) -> Entry? { entries.first { $0.machine == machine } }

  /// Applies one more change. If its machine is not among ``machines``, only ``sequence`` changes.
  public mutating func apply(_ change: Change) {
    sequence = change.sequence
    guard let index = entries.firstIndex(where: { $0.machine == change.machine }) else { return }
    (entries[index].state, entries[index].since) = (change.to, change.time)
  }
}

extension Controller {
  /// The part of a controller's state from which another controller can continue. Held keys are not
  /// part of it: the devices report them.
  public struct Snapshot: Hashable, Sendable {
    /// The states, and when they were entered.
    public let states: States
    /// The state of the Shift machine with its payload; ``states`` has only its name.
    public let shift: ShiftRules.State
    /// When the press that began `on` was found, if its own time is unknown; otherwise `nil`.
    public let shiftFoundTime: Time?
    /// The releases that will send an event.
    public let awaitedReleases: [AwaitedRelease]

    /// A snapshot of these states; `shift` must be the state that `states` has for Shift.
    public init(
      states: States, shift: ShiftRules.State, shiftFoundTime: Time? = nil,
      awaitedReleases: [AwaitedRelease] = []
    ) {
      (self.states, self.shift, self.shiftFoundTime) = (states, shift, shiftFoundTime)
      self.awaitedReleases = awaitedReleases
    }
  }
}

/// The release of a key that the next controller has to await.
public struct AwaitedRelease: Hashable, Sendable {
  /// The key.
  public let key: KeyCode
  /// The machine that receives the event.
  public let machine: MachineName
  /// The name of the event.
  public let event: String

  /// The release of `key`, which sends `event` to `machine`.
  public init(key: KeyCode, machine: MachineName = .keyboard, event: String) {
    (self.key, self.machine, self.event) = (key, machine, event)
  }
}
