public import KeymodeClient
public import SystemCalls
public import Systemd

/// Follows the states for those who act on them: the daemon's, while the user's session is in front.
@MainActor
public struct StatesFollower {
  private let client: Client
  private let session: AsyncStream<SessionPresence>?
  private let mayWait: Bool

  /// Follows the states of `client`.
  ///
  /// - Parameters:
  ///   - session: whether the session is in front: at once, and whenever that changes. Its end counts
  ///     as not in front, because nothing would tell of a locked screen any more. `nil` does not look
  ///     at sessions.
  ///   - mayWait: whether to wait for a daemon, at the start and when it ends, rather than throw.
  public init(_ client: Client, session: AsyncStream<SessionPresence>?, mayWait: Bool = true) {
    (self.client, self.session, self.mayWait) = (client, session, mayWait)
  }

  /// Calls `handle` for each occurrence, in order, until the task is cancelled.
  ///
  /// The first occurrence comes at once or, if the daemon does not answer, within
  /// ``Connection/usualPatience``. Where there is no daemon, this waits for one, if it may.
  ///
  /// - Throws: ``ClientError`` if waiting would not help, such as for lack of permission, and what
  ///   `handle` throws.
  public func run(_ handle: @escaping @MainActor (Occurrence) throws -> Void) async throws {
    let merge = Merge(KnownStates(presence: session == nil ? .inFront : nil), handle)
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask { [client, mayWait] in try await merge.follow(client, mayWait: mayWait) }
      if let session { tasks.addTask { try await merge.follow(session) } }
      // Unlike `waitForAll`, this cancels the other task at the first error.
      for try await _ in tasks {}
    }
  }

  /// What both tasks add to.
  @MainActor
  private final class Merge {
    private var known: KnownStates
    private let handle: @MainActor (Occurrence) throws -> Void

    init(_ known: KnownStates, _ handle: @escaping @MainActor (Occurrence) throws -> Void) {
      (self.known, self.handle) = (known, handle)
    }

    func follow(_ client: Client, mayWait: Bool) async throws {
      for try await update in client.changes {
        // Not left to `handle`, which is not told while the session is not in front.
        if !mayWait, case .disconnected(let error) = update { throw error }
        try tell { $0.take(update) }
      }
    }

    func follow(_ session: AsyncStream<SessionPresence>) async throws {
      for await presence in session { try tell { $0.take(presence) } }
      if !Task.isCancelled { try tell { $0.take(.absent(.noAnswer)) } }
    }

    private func tell(_ take: (inout KnownStates) -> Occurrence?) throws {
      if let occurrence = take(&known) { try handle(occurrence) }
    }
  }
}

extension LoginSession {
  /// Whether the session of this process is in front: once it is known, and whenever it changes.
  ///
  /// The stream ends if its event loop fails.
  ///
  /// - Throws: if there can be no event loop.
  @MainActor
  public static func presences() throws(SystemError) -> AsyncStream<SessionPresence> {
    let loop = try EventLoop()
    let (presences, told) = AsyncStream.makeStream(of: SessionPresence.self)
    let session = try LoginSession(on: loop) { told.yield($0) }
    let serving = Task {
      // A loop that fails ends the stream.
      try? await loop.serve()
      withExtendedLifetime(session) {}
      told.finish()
    }
    told.onTermination = { _ in serving.cancel() }
    return presences
  }
}
