import KeymodeClient

/// Where the daemon is that a command asks, and until when it has to have answered everything.
struct DaemonAddress {
  let directory: String
  let deadline: SuspendingClock.Instant

  /// - Parameter timeout: how long it has from now on.
  init(_ directory: String, timeout: Duration?) {
    self.directory = directory
    deadline = .now.advanced(by: timeout ?? Connection.usualPatience)
  }

  /// Connects for control.
  func connect() throws(ClientError) -> Connection {
    try Connection(.control, in: directory, until: deadline)
  }

  /// Connects for reading. Whoever may only control may also read, through the control socket.
  func connectForReading() throws(ClientError) -> Connection {
    do {
      return try Connection(.state, in: directory, until: deadline)
    } catch {
      guard case .permissionDenied = error, let connection = try? connect() else { throw error }
      return connection
    }
  }
}
