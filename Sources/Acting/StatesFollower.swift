public import KeyboardModes
public import KeymodeClient
public import Linux

/// Follows the states for those who act on them: the daemon's, while the user's session is
/// in front.
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
  ///   - anySession: whether not to look at sessions.
  ///   - choice: which session to look at.
  ///   - mayWait: whether to wait for a daemon, at the start and when it ends, rather than fail.
  ///   - told: called from the loop with each occurrence, in order, and with an error if waiting
  ///     would not help, such as for lack of permission.
  public init(
    _ directory: String, of machines: Set<Machine>? = nil, on loop: EventLoop, anySession: Bool,
    session choice: LoginSession.Choice = .own, mayWait: Bool = true,
    told: @escaping (Result<Occurrence, ClientError>) -> Void
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
    daemon = try loop.follow(directory, of: machines) { update in
      switch update {
      case .failure(let error): told(.failure(error))
      // Told even while the session is not in front, which would hide it.
      case .success(.disconnected(let error)) where !mayWait: told(.failure(error))
      case .success(let update): tell(known.take(update))
      }
    }
    // The session's presence is taken before an update of the same time.
    daemon.setPriority(.last)
  }
}
