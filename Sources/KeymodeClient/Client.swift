public import KeymodeInterface

/// A client of the daemon.
///
///     let client = Client()
///     for try await update in client.changes {
///       if case .change(let change) = update { print(change.machine, "is", change.to) }
///     }
///
/// A client is only an address: it holds no connection and no thread. Each call, and each loop over
/// ``changes``, has a connection of its own, which ends with it or with the cancellation of its task.
public struct Client: Sendable {
  /// The directory of the daemon's sockets.
  public let directory: String
  private let retryDelays: RetryDelays

  /// The daemon that serves in `directory`; by default the one that ``Connection/directory(_:)``
  /// finds now.
  public init(directory: String? = nil) { self.init(directory: directory, retryDelays: .usual) }

  /// The same, with subscriptions that retry after these delays.
  package init(directory: String?, retryDelays: RetryDelays) {
    self.directory = Connection.directory(directory)
    self.retryDelays = retryDelays
  }

  /// The updates from now on.
  ///
  /// The sequence does not end by itself: where there is no daemon, it waits for one. It ends when
  /// the task is cancelled, and throws if waiting would not help, such as for lack of permission.
  public var changes: Changes { Changes(directory: directory, retryDelays: retryDelays) }

  /// The present states.
  ///
  /// - Throws: ``ClientError/noDaemon(path:)`` at once if there is no daemon, and
  ///   ``ClientError/noAnswer(path:)`` if the daemon does not answer within five seconds.
  public func state(
    isolation: isolated (any Actor)? = #isolation
  ) async throws(ClientError) -> StateMessage {
    try await Link.reading(in: directory).ask(.state)
  }

  /// Asks the daemon again and again, on one connection, until it does not answer.
  ///
  /// - Parameters:
  ///   - interval: how long to wait after each answer.
  ///   - patience: how long the daemon may take to answer.
  /// - Returns: whether the daemon did not answer; `false` if the task was cancelled.
  public func waitForSilence(
    askingEvery interval: Duration, patience: Duration,
    isolation: isolated (any Actor)? = #isolation
  ) async -> Bool {
    do {
      let link = try Link.reading(in: directory)
      while !Task.isCancelled {
        link.deadline = .now.advanced(by: patience)
        _ = try await link.ask(.state)
        _ = try await Poller.shared.wait(toRead: -1, until: .now.advanced(by: interval))
      }
    } catch {}
    return !Task.isCancelled
  }

  /// The states, events and transitions of both machines. Throws like ``state()``.
  public func machines(
    isolation: isolated (any Actor)? = #isolation
  ) async throws(ClientError) -> [MachineMessage] {
    try await Link.reading(in: directory).ask(.machines)
  }

  /// The devices that the daemon follows, for those who may send events. Throws like ``state()``.
  public func devices(
    isolation: isolated (any Actor)? = #isolation
  ) async throws(ClientError) -> [DeviceMessage] {
    try await Link(.control, in: directory).ask(.devices)
  }

  /// The statistics of the daemon, for those who may send events. Throws like ``state()``.
  public func statistics(
    isolation: isolated (any Actor)? = #isolation
  ) async throws(ClientError) -> StatisticsMessage {
    try await Link(.control, in: directory).ask(.statistics)
  }

  /// Sends an event instead of a key, by its name, such as `tapTextField`.
  ///
  /// - Returns: whether it changed anything, and the states after it.
  /// - Throws: ``ClientError/noDaemon(path:)`` if there is no daemon,
  ///   ``ClientError/noAnswer(path:)`` if it does not answer within five seconds, and
  ///   ``ClientError/cancelled`` if the task is cancelled; the event may have been sent by then.
  @discardableResult
  public func trigger(
    _ event: String, isolation: isolated (any Actor)? = #isolation
  ) async throws(ClientError) -> TriggerMessage {
    try await Link(.control, in: directory).ask(.trigger(event))
  }
}
