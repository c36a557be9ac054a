import JSON
public import KeymodeInterface
import Varlink

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
  private let patience: Patience

  /// The daemon that serves in `directory`; by default the one that ``Connection/directory(_:)``
  /// finds now.
  public init(directory: String? = nil) {
    self.init(directory: directory, patience: .usual)
  }

  /// The daemon that serves in `directory`; subscriptions retry with this patience.
  package init(directory: String?, patience: Patience) {
    self.directory = Connection.directory(directory)
    self.patience = patience
  }

  /// The updates from now on.
  ///
  /// The sequence does not end by itself: where there is no daemon, it waits for one. It ends when
  /// the task is cancelled, and throws if waiting would not help, such as for lack of permission.
  public var changes: Changes { Changes(directory: directory, patience: patience) }

  /// The present states.
  ///
  /// - Throws: ``ClientError/noDaemon(path:)`` at once if there is no daemon, and
  ///   ``ClientError/noAnswer(path:)`` if the daemon does not answer within five seconds.
  public func state() async throws(ClientError) -> StateMessage {
    let reply = try await Client.ask(
      Link.reading(in: directory), Call(ControllerInterface.getState))
    guard let state = reply["state"].flatMap(StateMessage.init) else {
      throw .badReply("without a state")
    }
    return state
  }

  /// Sends an event in place of a key, by its name, such as `tapTextField`.
  ///
  /// - Returns: whether it changed anything, and the states after it.
  /// - Throws: ``ClientError/noDaemon(path:)`` if there is no daemon,
  ///   ``ClientError/noAnswer(path:)`` if it does not answer within five seconds, and
  ///   ``ClientError/cancelled`` if the task is cancelled; the event may have been sent by then.
  @discardableResult
  public func trigger(
    _ event: String
  ) async throws(ClientError) -> (changed: Bool, state: StateMessage) {
    let call = Call(ControllerInterface.trigger, [.init("event", .string(event))])
    let reply = try await Client.ask(Link(.control, in: directory), call)
    guard let changed = reply["changed"]?.bool,
      let state = reply["state"].flatMap(StateMessage.init)
    else { throw .badReply("without a state") }
    return (changed, state)
  }

  private nonisolated(nonsending) static func ask(
    _ link: Link, _ call: Call
  ) async throws(ClientError) -> JSON {
    try await link.send(call)
    return try await link.receive()
  }
}
