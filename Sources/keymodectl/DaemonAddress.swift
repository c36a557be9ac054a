import KeymodeClient

/// The folder of the daemon's sockets, and the time limit for all answers to a command.
struct DaemonAddress {
  let directory: String
  let deadline: SuspendingClock.Instant

  /// - Parameter timeout: the time limit, from now on; by default that of every client.
  init(_ directory: String, timeout: Duration?) {
    self.directory = directory
    deadline = .now.advanced(by: timeout ?? Connection.usualPatience)
  }

  /// Connects to the control socket.
  func connect() throws(ClientError) -> Connection {
    try Connection(.control, in: directory, until: deadline)
  }

  /// Connects to the state socket or, without permission for it, to the control socket.
  func connectForReading() throws(ClientError) -> Connection {
    do {
      return try Connection(.state, in: directory, until: deadline)
    } catch {
      guard case .permissionDenied = error, let connection = try? connect() else { throw error }
      return connection
    }
  }
}
