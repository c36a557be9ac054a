public import KeymodeClient
public import Linux

/// Follows the states for those who act on them: the daemon's, while the user's session is in front.
public final class StatesFollower {
  private let daemon: EventSource
  private let session: LoginSession?

  /// Follows the states of the daemon that serves in `directory`.
  ///
  /// The first occurrence comes at once or, if the daemon does not answer, within five seconds. Where
  /// there is no daemon, this waits for one, if it may.
  ///
  /// - Parameters:
  ///   - anySession: whether not to look at sessions.
  ///   - mayWait: whether to wait for a daemon, at the start and when it ends, rather than fail.
  ///   - told: called from the loop with each occurrence, in order, and with an error if waiting would
  ///     not help, such as for lack of permission.
  public init(
    _ directory: String, on loop: EventLoop, anySession: Bool, mayWait: Bool = true,
    told: @escaping (Result<Occurrence, ClientError>) -> Void
  ) throws {
    let merge = Merge(KnownStates(presence: anySession ? .inFront : nil), mayWait, told)
    if anySession {
      session = nil
    } else {
      session = try LoginSession(on: loop) { presence in merge.tell { $0.take(presence) } }
    }
    daemon = try loop.follow(directory) { merge.take($0) }
    // Whether the session is in front is known before what came at the same time.
    daemon.setPriority(.last)
  }

  /// What the daemon and the session add to.
  private final class Merge {
    private var known: KnownStates
    private let mayWait: Bool
    private let told: (Result<Occurrence, ClientError>) -> Void

    init(
      _ known: KnownStates, _ mayWait: Bool,
      _ told: @escaping (Result<Occurrence, ClientError>) -> Void
    ) {
      (self.known, self.mayWait, self.told) = (known, mayWait, told)
    }

    func take(_ update: Result<Update, ClientError>) {
      switch update {
      case .failure(let error): told(.failure(error))
      // Told even while the session is not in front, which would hide it.
      case .success(.disconnected(let error)) where !mayWait: told(.failure(error))
      case .success(let update): tell { $0.take(update) }
      }
    }

    func tell(_ take: (inout KnownStates) -> Occurrence?) {
      if let occurrence = take(&known) { told(.success(occurrence)) }
    }
  }
}
