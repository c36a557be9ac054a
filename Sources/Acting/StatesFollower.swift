public import KeyboardModes
import KeymodeClient
public import Linux

/// Follows the daemon's states for programs that act on them. While the user's session is not in
/// front, all states count as left.
public final class StatesFollower {
  private let daemon: EventSource
  private let session: LoginSession?

  /// The name of the session, as in ``LoginSession/name``; `-` if sessions are not looked at.
  public var sessionName: String { session?.name ?? "-" }

  /// Follows the states of the daemon that serves in `directory`.
  ///
  /// The first occurrence comes at once or, if the daemon does not answer, within five seconds.
  /// Where there is no daemon, this waits for one, if it may.
  ///
  /// - Parameters:
  ///   - machines: the machines whose changes are told, at least one; `nil` for all. The states of
  ///     others are out of date.
  ///   - conditions: before anything is told, the daemon is asked whether it has their states.
  ///   - anySession: whether not to look at sessions.
  ///   - choice: which session to look at.
  ///   - mayWait: whether to wait for a daemon, at the start and when it ends, rather than fail.
  ///   - told: called from the loop with each occurrence, in order, and with an error if waiting
  ///     would not help: lack of permission, or of a state of the conditions.
  public init(
    _ directory: String, of machines: Set<Machine>? = nil,
    checking conditions: StateConditions? = nil, on loop: EventLoop, anySession: Bool,
    session choice: LoginSession.Choice = .own, mayWait: Bool = true,
    told: @escaping (Result<Occurrence, any Error>) -> Void
  ) throws {
    // What the daemon and the session have told.
    var known = KnownStates(presence: anySession ? .inFront : nil)
    func tell(_ occurrence: Occurrence?) {
      if let occurrence { told(.success(occurrence)) }
    }
    if anySession {
      session = nil
    } else {
      session = try LoginSession(choice, on: loop) { presence in tell(known.take(presence)) }
    }
    var unchecked = conditions
    daemon = try loop.follow(directory, of: machines) { update in
      do {
        let update = try update.get()
        // Told even while the session is not in front, which would hide it.
        if !mayWait, case .disconnected(let error) = update { throw error }
        if case .states = update, let conditions = unchecked {
          guard try conditions.check(in: directory) else { return }
          unchecked = nil
        }
        tell(known.take(update))
      } catch {
        told(.failure(error))
      }
    }
    // The session's presence is taken before an update of the same time.
    daemon.setPriority(.last)
  }
}
