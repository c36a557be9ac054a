import KeyboardModes

/// Why a command starts: the states in which its conditions hold, and the change that led to them.
struct StartReason: Hashable, Sendable {
  /// The states.
  let states: States
  /// The machine that changed; if no machine did, the machine that the conditions name first.
  let machine: MachineName
  /// The event that caused the change; `nil` if the states were found as they are.
  let event: String?
  private let time: Time?

  init(_ states: States, by change: Change?, else machine: MachineName) {
    self.states = states
    self.machine = change?.machine ?? machine
    event = change?.event
    time = states.since(self.machine) ?? change?.time
  }

  /// The command's environment variables.
  var variables: [(name: String, value: String)] {
    [
      ("KEYMODE_MACHINE", machine.rawValue), ("KEYMODE_STATE", states[machine] ?? ""),
      ("KEYMODE_EVENT", event ?? ""),
      ("KEYMODE_TIME", time.map { "\($0.microseconds)" } ?? ""),
    ]
      + states.entries.map { ("KEYMODE_\($0.machine.rawValue.uppercased())", $0.state) }
  }
}

/// Notices when conditions begin to hold, and when they no longer do.
///
/// With `requiresEntry`, a state counts only after a change into this state was seen. States found
/// without a change do not count: at the start, after missed changes, after a reconnection, and once
/// the session is in front again or the computer awake. So a state that was entered on a lock
/// screen, by another person or before a sleep never starts anything, although it lasts.
struct HeldConditions {
  private let conditions: StateConditions
  private let requiresEntry: Bool
  /// The machines that have changed since states were last found or lost.
  private var changed: Set<MachineName> = []
  /// Why the conditions began to hold; `nil` while they do not hold.
  private(set) var startReason: StartReason?

  init(_ conditions: StateConditions, requiresEntry: Bool = false) {
    (self.conditions, self.requiresEntry) = (conditions, requiresEntry)
  }

  /// Handles an update, and returns the event that the update causes, if any.
  mutating func handle(_ update: StatesUpdate) -> WhileCommandRules.Event? {
    switch update {
    case .states(_, let change?): changed.insert(change.machine)
    case .states, .unknown: changed = []
    }
    switch update {
    case .states(let states, let change) where conditions.hold({ effectiveState($0, in: states) }):
      guard startReason == nil else { return nil }
      startReason = StartReason(states.states, by: change, else: conditions.firstMachine)
      return .entered
    case .states, .unknown:
      guard startReason != nil else { return nil }
      startReason = nil
      return .left
    }
  }

  /// The state of a machine; `nil` if it does not count.
  private func effectiveState(_ machine: MachineName, in states: EffectiveStates) -> String? {
    requiresEntry && !changed.contains(machine) ? nil : states[machine]
  }
}
