public import KeyboardModes
public import KeymodeClient

/// What becomes known of the states: what they are, or that they count as none.
public enum Occurrence: Hashable, Sendable {
  /// The states after `change`. Without a change, the states as they are at the start, after missed
  /// changes, once a daemon is back, or once the session is in front again.
  case states(Modes, change: Change?)
  /// Every state counts as left.
  case unknown(Reason)

  /// Why no state counts.
  public enum Reason: Hashable, Sendable {
    /// There is no connection to the daemon.
    case noDaemon(ClientError)
    /// The user's session is locked, in the background or gone: keys may be another user's.
    case sessionNotInFront
  }
}

/// Merges the updates of the daemon with whether the session is in front.
///
/// | session      | daemon       | what is told                                    |
/// | ------------ | ------------ | ----------------------------------------------- |
/// | in front     | connected    | the states, and each change                     |
/// | in front     | away         | `unknown(noDaemon)`, once                       |
/// | not in front | either       | `unknown(sessionNotInFront)`, once              |
///
/// Until both are known nothing is told, except that the session is not in front.
struct KnownStates {
  private enum Daemon {
    case unasked
    case connected(Modes)
    case away(ClientError)
  }

  private var daemon = Daemon.unasked
  private var isInFront: Bool?

  /// - Parameter isInFront: whether the session is in front; `nil` if that is not known yet.
  init(isInFront: Bool?) { self.isInFront = isInFront }

  /// Takes an update of the daemon, and returns what it makes known, if anything.
  mutating func take(_ update: Update) -> Occurrence? {
    switch (update, daemon) {
    case (.states(let message), _):
      daemon = .connected(message.modes)
      return isInFront == true ? occurrence : nil
    case (.change(let change), .connected(let modes)):
      let modes = modes.after(change)
      daemon = .connected(modes)
      return isInFront == true ? .states(modes, change: change) : nil
    // The states follow, and include these changes.
    case (.change, .unasked), (.change, .away), (.missed, _): return nil
    case (.disconnected(let error), _):
      daemon = .away(error)
      return isInFront == true ? occurrence : nil
    }
  }

  /// Takes whether the session is in front now, and returns what that makes known, if anything.
  mutating func take(isInFront now: Bool) -> Occurrence? {
    guard now != isInFront else { return nil }
    isInFront = now
    return occurrence
  }

  /// What is known now.
  private var occurrence: Occurrence? {
    switch (isInFront, daemon) {
    case (nil, _), (true, .unasked): nil
    case (false, _): .unknown(.sessionNotInFront)
    case (true, .connected(let modes)): .states(modes, change: nil)
    case (true, .away(let error)): .unknown(.noDaemon(error))
    }
  }
}

extension Modes {
  /// The states after one more change.
  fileprivate func after(_ change: Change) -> Modes {
    let isShift = change.machine == .shift
    return Modes(
      sequence: change.sequence,
      shift: isShift ? change.to : shift, shiftSince: isShift ? change.time : shiftSince,
      keyboard: isShift ? keyboard : change.to, keyboardSince: isShift ? keyboardSince : change.time
    )
  }
}
