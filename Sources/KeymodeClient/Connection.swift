import Glibc
public import JSON
public import KeymodeInterface
import SystemCalls
public import Varlink

/// A connection to the daemon whose calls block. The deadline bounds all waiting: to connect, to
/// send, and for the last byte of a reply.
public final class Connection {
  /// How long a client usually waits for an answer that the daemon gives at once.
  public static let usualPatience = Duration.seconds(5)

  /// Which socket to use.
  public enum Endpoint: Sendable {
    /// The socket for reading states and changes.
    case state
    /// The socket that also accepts events.
    case control

    func path(in directory: String) -> String {
      let name = self == .state ? SocketDirectory.stateSocket : SocketDirectory.controlSocket
      return "\(directory)/\(name)"
    }
  }

  private var socket: DaemonSocket

  /// When waiting ends with ``ClientError/noAnswer(path:)``; `nil`: never.
  public var deadline: SuspendingClock.Instant?

  /// Connects to the daemon that serves in `directory`.
  ///
  /// - Throws: ``ClientError/noDaemon(path:)``, ``ClientError/permissionDenied(path:whom:)``,
  ///   ``ClientError/noAnswer(path:)`` if the daemon's backlog is full until the deadline, or
  ///   ``ClientError/failed(_:)``.
  public init(
    _ endpoint: Endpoint, in directory: String, until deadline: SuspendingClock.Instant?
  ) throws(ClientError) {
    socket = try DaemonSocket(endpoint, in: directory, mayWait: true, until: deadline)
    self.deadline = deadline
  }

  /// The directory of the daemon's sockets, by the rule that every client follows: the one given,
  /// else that of `KEYMODED_SOCKET_DIR`, else the user's own if it has a socket, else the system's.
  public static func directory(_ given: String?) -> String {
    given ?? environment(SocketDirectory.variable) ?? usualDirectory
  }

  /// The directory of the daemon's sockets where the user names none.
  public static var usualDirectory: String {
    if let runtime = environment("XDG_RUNTIME_DIR") {
      // A daemon that has ended may have left the directory.
      let directory = SocketDirectory.user(runtimeDirectory: runtime)
      if access(Endpoint.state.path(in: directory), F_OK) == 0 { return directory }
    }
    return SocketDirectory.system
  }

  /// Waits until `poll` reports one of these events.
  private func wait(for events: Int32) throws(ClientError) {
    while true {
      let left = deadline.map { SuspendingClock.now.milliseconds(to: $0) }
      if left == 0 { throw .noAnswer(path: socket.path) }
      var entry = pollfd(fd: socket.number, events: Int16(events), revents: 0)
      let count = poll(&entry, 1, left ?? -1)
      if count > 0 { return }
      if count < 0, errno != EINTR { throw .failed("\(SystemError.last("poll"))") }
    }
  }

  /// Sends a call. Throws ``ClientError/noAnswer(path:)`` if the daemon does not read it in time.
  public func send(_ call: Call) throws(ClientError) {
    var rest = call.message[...]
    while socket.send(&rest) == .wouldBlock { try wait(for: POLLOUT) }
  }

  /// Waits for the next reply, and returns its parameters. Throws
  /// ``ClientError/refused(name:parameters:)`` if the reply is an error.
  public func receive() throws(ClientError) -> JSON {
    while true {
      if let reply = try socket.nextReply() { return reply }
      // Waits before each read: a daemon that never stops sending must not outlast the deadline.
      try wait(for: POLLIN)
      _ = try socket.read()
    }
  }

  private func ask<Answer>(_ request: Request<Answer>) throws(ClientError) -> Answer {
    try send(request.call)
    return try request.answer(receive())
  }
}

// MARK: - The interface

extension Connection {
  /// Asks for the present states.
  public func state() throws(ClientError) -> StateMessage { try ask(.state) }

  /// Asks for the devices that the daemon follows.
  public func devices() throws(ClientError) -> [DeviceMessage] { try ask(.devices) }

  /// Asks for the devices that the daemon follows and, if there are none, for the reason.
  public func deviceList() throws(ClientError) -> DeviceList { try ask(.deviceList) }

  /// Asks for the states, events and transitions of both machines.
  public func machines() throws(ClientError) -> [MachineMessage] { try ask(.machines) }

  /// Asks for the statistics of the daemon.
  public func statistics() throws(ClientError) -> StatisticsMessage { try ask(.statistics) }

  /// Sends an event, and returns whether it changed anything, and the states after it.
  public func trigger(_ event: String) throws(ClientError) -> TriggerMessage {
    try ask(.trigger(event))
  }

  /// Subscribes to changes; ``nextChanges()`` then returns one reply at a time.
  public func subscribe() throws(ClientError) { try send(Request.changes().call) }

  /// Waits for the next reply after ``subscribe()``.
  public func nextChanges() throws(ClientError) -> MonitorMessage {
    try Request.changes().answer(receive())
  }
}
