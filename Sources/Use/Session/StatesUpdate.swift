public import KeyboardModes
public import KeymodeClient
public import System
public import Terminal

/// An update for programs that act on states: the present states, or that all count as left.
public enum StatesUpdate: Hashable, Sendable {
  /// The states after `change`. `change` is `nil` at the start, after missed changes, when the list
  /// of machines changes, once a daemon is back, and once the session is in front again.
  case states(EffectiveStates, change: Change?)
  /// Every state counts as left.
  case unknown(Reason)

  /// Why no state counts.
  public enum Reason: Hashable, Sendable, TerminalTextConvertible {
    /// There is no connection to the daemon.
    case noDaemon(ClientError)
    /// The session is locked, in the background, gone or asleep: keys may be another user's.
    case sessionNotInFront(SessionPresence.Reason)

    /// The message for the user.
    public var text: TerminalText {
      switch self {
      case .noDaemon(let error): error.text
      case .sessionNotInFront(let reason): "\(reason)"
      }
    }

    /// The message about what a command waits for, and what else the user may do.
    var waitingText: TerminalText {
      switch self {
      case .sessionNotInFront(.locked): "waiting until it is unlocked"
      // In tmux, over ssh and on a serial line, the wait would never end.
      case .sessionNotInFront(.noSeat), .sessionNotInFront(.noSession):
        "waiting for it; '--any-session' does not"
      case .sessionNotInFront(.asleep): "waiting until it wakes up"
      case .sessionNotInFront(.inactive), .sessionNotInFront(.noAnswer), .noDaemon:
        "waiting for it"
      }
    }
  }
}

/// The states of the machines, and which of them count.
///
/// A state that was entered while the session was not in front counts as left until the machine's
/// next change, although it lasts: the key that entered it was typed on a locked screen, or by
/// another user, and must not start anything once the session is in front.
public struct EffectiveStates: Hashable, Sendable {
  /// The states of all machines, including states that count as left.
  public let states: States
  /// The machines whose state was entered while the session was not in front.
  let enteredElsewhere: Set<MachineName>

  /// The states. The states of the machines in `enteredElsewhere` count as left.
  init(_ states: States, enteredElsewhere: Set<MachineName> = []) {
    (self.states, self.enteredElsewhere) = (states, enteredElsewhere)
  }

  /// The state of a machine; `nil` if it counts as left.
  public subscript(machine: MachineName) -> String? {
    enteredElsewhere.contains(machine) ? nil : states[machine]
  }
}

/// Merges the updates of the daemon with the presence of the session.
///
/// | session      | daemon       | what is reported                                |
/// | ------------ | ------------ | ----------------------------------------------- |
/// | in front     | connected    | the states, and each change                     |
/// | in front     | away         | `unknown(noDaemon)`, once                       |
/// | not in front | either       | `unknown(sessionNotInFront)`, once              |
///
/// Until both are known, nothing is reported except that the session is not in front.
struct KnownStates {
  private enum Daemon {
    case unasked
    case connected
    case away(ClientError)
  }

  private var daemon = Daemon.unasked
  private var presence: SessionPresence?
  /// The states that a daemon sent last, with the changes since.
  private var states: EffectiveStates?
  /// Whether the session was in front at any time since the first states came.
  private var hasBeenInFront = false

  /// - Parameter presence: whether the session is in front; `nil` if that is not known yet.
  init(presence: SessionPresence?) { self.presence = presence }

  /// Handles an update of the daemon, and returns the update to report, if there is one.
  mutating func handle(_ update: Update) -> StatesUpdate? {
    defer { noteFront() }
    switch (update, daemon) {
    case (.states(let message), _):
      daemon = .connected
      note(message.states)
      return presence == .inFront ? statesUpdate(after: nil) : nil
    case (.change(let change), .connected):
      if var states = states?.states {
        states.apply(change)
        note(states)
      }
      return presence == .inFront ? statesUpdate(after: change) : nil
    // The states follow, and include these changes.
    case (.change, .unasked), (.change, .away), (.missed, _): return nil
    case (.disconnected(let error), _):
      daemon = .away(error)
      return presence == .inFront ? statesUpdate(after: nil) : nil
    }
  }

  /// Handles the presence of the session, and returns the update to report, if there is one.
  mutating func handle(_ now: SessionPresence) -> StatesUpdate? {
    defer { noteFront() }
    let before = presence
    presence = now
    // The first states may have come before it was known that the session is locked.
    if !hasBeenInFront, let states {
      self.states = EffectiveStates(
        states.states,
        enteredElsewhere: states.enteredElsewhere.union(enteredElsewhereAtFirst(states.states)))
    }
    // If only the reason changes, the states still count as left.
    if case (.absent, .absent?) = (now, before) { return nil }
    return now == before ? nil : statesUpdate(after: nil)
  }

  /// Notes the states, and which of the new states were entered elsewhere.
  private mutating func note(_ states: States) {
    var elsewhere = self.states?.enteredElsewhere ?? enteredElsewhereAtFirst(states)
    if let before = self.states?.states {
      for machine in states.machines
      where before[machine] != states[machine] || before.since(machine) != states.since(machine) {
        if case .absent = presence { elsewhere.insert(machine) } else { elsewhere.remove(machine) }
      }
    }
    self.states = EffectiveStates(states, enteredElsewhere: elsewhere)
  }

  private mutating func noteFront() {
    if presence == .inFront, states != nil { hasBeenInFront = true }
  }

  /// The machines whose first known state counts as entered elsewhere. While the session is locked,
  /// these are all machines: keys on the lock screen may have entered their states.
  private func enteredElsewhereAtFirst(_ states: States) -> Set<MachineName> {
    presence == .absent(.locked) ? Set(states.machines) : []
  }

  /// The update to report after `change`, or without a change; `nil` if not enough is known.
  private func statesUpdate(after change: Change?) -> StatesUpdate? {
    switch (presence, daemon, states) {
    case (.absent(let reason), _, _): .unknown(.sessionNotInFront(reason))
    case (.inFront, .connected, let states?): .states(states, change: change)
    case (.inFront, .away(let error), _): .unknown(.noDaemon(error))
    case (nil, _, _), (.inFront, .unasked, _), (.inFront, .connected, nil): nil
    }
  }
}
