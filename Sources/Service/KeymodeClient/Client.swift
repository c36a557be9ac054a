import Glibc
public import KeyboardModes
import System
import Terminal
public import Wire

/// A client of the daemon.
///
///     let client = Client()
///     for try await update in client.changes {
///       if case .change(let change) = update { print(change.machine, "is", change.to) }
///     }
///
/// A client is only an address: it holds no connection and no thread. Each call, and each loop
/// over ``changes``, has a connection of its own, and a thread while it waits. Both end with the
/// call or loop, or when the task is cancelled.
public struct Client: Sendable {
  /// How long a client waits for an answer. A daemon that does not hang answers at once.
  package static let defaultTimeout = Duration.seconds(5)

  /// The directory of the daemon's sockets.
  public let directory: String

  /// A client of the daemon that serves in `directory`. If `directory` is `nil`, ``directory(_:)``
  /// chooses the directory now.
  public init(directory: String? = nil) { self.directory = Client.directory(directory) }

  /// The directory of the daemon's sockets: the given one, else the value of `KEYMODED_SOCKET_DIR`,
  /// else the user's own if a state socket is there, else the system's. keymodectl uses it too.
  public static func directory(_ given: String?) -> String {
    if let named = given ?? environment(SocketDirectory.environmentVariable) { return named }
    if let runtime = environment("XDG_RUNTIME_DIR") {
      // A daemon that has ended may have left the directory.
      let directory = SocketDirectory.user(runtimeDirectory: runtime)
      if access(Endpoint.state.path(in: directory), F_OK) == 0 { return directory }
    }
    return SocketDirectory.system
  }

  /// The updates from now on.
  ///
  /// The sequence does not end by itself: it waits for a daemon that is missing, and for the
  /// permission to read. It ends when the task is cancelled, and throws if waiting would not help,
  /// such as for an invalid reply.
  public var changes: Changes { changes(of: nil) }

  /// The updates from now on, with the changes of these machines only: at least one machine, or
  /// `nil` for all. Changes of other machines do not wake the program.
  public func changes(of machines: Set<MachineName>?) -> Changes {
    Changes(directory: directory, machines: machines)
  }

  /// The present states.
  ///
  /// - Throws: ``ClientError/noDaemon(path:)`` at once if there is no daemon, and
  ///   ``ClientError/noAnswer(path:)`` if the daemon does not answer within five seconds.
  public func state(
    isolation: isolated (any Actor)? = #isolation
  ) async throws(ClientError) -> StateMessage {
    try await ask(.state)
  }

  /// The states, events and transitions of all machines. Throws like ``state()``.
  public func machines(
    isolation: isolated (any Actor)? = #isolation
  ) async throws(ClientError) -> [MachineMessage] {
    try await ask(.machines)
  }

  /// Sends an event instead of a key, by its name, such as `tapTextField`.
  ///
  /// - Returns: whether the event changed a state, and the states afterwards.
  /// - Throws: ``ClientError/noDaemon(path:)`` if there is no daemon,
  ///   ``ClientError/noAnswer(path:)`` if the daemon does not answer within five seconds, and
  ///   ``ClientError/cancelled`` if the task is cancelled; the event may have been sent by then.
  @discardableResult
  public func trigger(
    _ event: String, isolation: isolated (any Actor)? = #isolation
  ) async throws(ClientError) -> TriggerMessage {
    try await ask(.trigger(event))
  }

  private func ask<Answer>(
    _ request: Request<Answer>, isolation: isolated (any Actor)? = #isolation
  ) async throws(ClientError) -> Answer {
    let answer = try PendingAnswer(to: request, in: directory)
    while try await waitUntilReadable(answer.descriptor) {
      if let answer = try answer.advance() { return answer }
    }
    throw .cancelled
  }
}
