package import KeyboardModes
import Linux
import Wire

/// A subscription that outlives its connections.
///
///     away ── the socket is there ──> asked ── states ──> connected ── the daemon goes ──> away …
///
/// Wait until ``descriptor`` is readable, then call ``advance()``. A new connection resumes after
/// the last change, which it names by number and instance.
package final class Subscription {
  private enum Phase {
    /// There is no connection. The next attempt comes at this time, or when the watch has news.
    case away(SocketWatch?, attempt: SuspendingClock.Instant)
    /// The daemon has to tell the states, before this time.
    case asked(Connection, deadline: SuspendingClock.Instant)
    /// The daemon tells of changes.
    case connected(Connection)
    /// Trying again would not help.
    case over(ClientError)
  }

  private static let patience = Duration.seconds(5)
  private static let settling = Duration.milliseconds(10)
  /// How long a new socket may belong to another group than the one that may use it: a program
  /// creates it before it changes its group.
  private static let granting = Duration.seconds(1)

  private let directory: String
  private let machines: Set<Machine>?
  private var delays: RetryDelays
  private let wakeup: Wakeup
  private var phase = Phase.away(nil, attempt: .now)
  /// The last change that was received, or that the received states include.
  private var last: (sequence: Int64, instance: String)?
  private var isAbsenceTold = false
  /// When this user's lack of permission no longer passes by itself; `nil` before there is one.
  private var grantDeadline: SuspendingClock.Instant?
  /// What the present call of ``advance()`` returns.
  private var updates: [Update] = []

  /// Readable when there is something to do: at once, and then whenever something has arrived or it
  /// is time for the next attempt to connect.
  package var descriptor: Int32 { wakeup.descriptor }

  /// A subscription to the daemon that serves in `directory`.
  ///
  /// - Parameter machines: the machines whose changes are received, at least one; `nil` for all.
  package init(
    to directory: String, of machines: Set<Machine>? = nil, retryDelays: RetryDelays = .usual
  ) throws(ClientError) {
    (self.directory, self.machines, delays) = (directory, machines, retryDelays)
    wakeup = try Wakeup()
    try wakeup.wait(for: nil, until: .now)
  }

  /// Does what can be done without waiting, and returns the updates that this makes known, in the
  /// order in which they happened.
  ///
  /// - Throws: ``ClientError`` if waiting would not help, such as for lack of permission. Then the
  ///   descriptor is not readable any more.
  package func advance() throws(ClientError) -> [Update] {
    defer { updates = [] }
    do throws(ClientError) {
      try step()
    } catch {
      wakeup.stop()
      phase = .over(error)
      if updates.isEmpty { throw error }
      // What happened before the error is told first.
      try? wakeup.wait(for: nil, until: .now)
    }
    return updates
  }

  private func step() throws(ClientError) {
    switch phase {
    case .away(let watch, let time):
      if watch?.hasNews == true { try settle() } else if time <= .now { try connect() }
    case .asked(let connection, let deadline): try awaitStates(connection, deadline)
    case .connected(let connection): try follow(connection)
    case .over(let error): throw error
    }
  }

  private func stayAway(
    _ watch: SocketWatch? = nil, until time: SuspendingClock.Instant
  ) throws(ClientError) {
    try wakeup.wait(for: watch?.descriptor, until: time)
    phase = .away(watch, attempt: time)
  }

  // MARK: - Without a connection

  /// The watch has seen something. The daemon binds the socket before it listens; the pause also
  /// bounds the attempts when another process keeps creating files.
  private func settle() throws(ClientError) {
    delays.begin()
    try stayAway(until: .now.advanced(by: Self.settling))
  }

  private func connect() throws(ClientError) {
    // The watch begins before the attempt, so that a socket created in between is noticed.
    let watch = SocketWatch("\(directory)/\(SocketDirectory.stateSocket)")
    do throws(ClientError) {
      let connection = try Connection.to(.state, in: directory)
      try subscribe(connection, deadline: .now.advanced(by: Self.patience))
    } catch {
      try retry(after: error, watch)
    }
  }

  /// Tells of the absence, once, and waits for the next attempt.
  private func retry(after error: ClientError, _ watch: SocketWatch? = nil) throws(ClientError) {
    guard isPassing(error) else { throw error }
    if !isAbsenceTold { updates.append(.disconnected(error)) }
    isAbsenceTold = true
    let usual = SuspendingClock.now.advanced(by: delays.next())
    try stayAway(watch, until: grantDeadline.map { min($0, usual) } ?? usual)
  }

  /// Whether a failure to connect may pass by itself.
  private func isPassing(_ error: ClientError) -> Bool {
    switch error {
    case .noDaemon, .noAnswer, .connectionLost,
      .refused(name: ControllerInterface.tooManyClients, _):
      grantDeadline = nil
      return true
    // The socket is created before its group may use it. A client that was connected before will
    // be able to connect again; one that has waited for a daemon may have found a new socket.
    case .permissionDenied where last == nil && isAbsenceTold:
      let deadline = grantDeadline ?? .now.advanced(by: Self.granting)
      grantDeadline = deadline
      return .now < deadline
    case .permissionDenied: return last != nil
    case .badReply, .refused, .failed, .cancelled: return false
    }
  }

  // MARK: - With a connection

  private func subscribe(
    _ connection: Connection, deadline: SuspendingClock.Instant
  ) throws(ClientError) {
    try connection.send(Request.changes(after: last, of: machines).call)
    try wakeup.wait(for: connection.descriptor, until: deadline)
    phase = .asked(connection, deadline: deadline)
  }

  private func awaitStates(
    _ connection: Connection, _ deadline: SuspendingClock.Instant
  ) throws(ClientError) {
    do throws(ClientError) {
      try connection.read()
      guard let reply = try connection.nextReply() else {
        if deadline <= .now { throw .noAnswer(path: connection.path) }
        return
      }
      take(try Request.changes().answer(reply), isFirst: true)
    } catch .refused(name: VarlinkError.invalidParameter("after").name, _) where last != nil {
      // The daemon knows the instance but not the change: it has restored an older state.
      last = nil
      updates.append(.missed(nil))
      return try subscribe(connection, deadline: deadline)
    } catch {
      return try retry(after: error)
    }
    delays.begin()
    (isAbsenceTold, grantDeadline) = (false, nil)
    // The next change may come hours later.
    try wakeup.wait(for: connection.descriptor, until: nil)
    phase = .connected(connection)
    try takeChanges(connection)
  }

  private func follow(_ connection: Connection) throws(ClientError) {
    do throws(ClientError) {
      try connection.read()
    } catch {
      isAbsenceTold = true
      updates.append(.disconnected(error))
      return try stayAway(until: .now)
    }
    try takeChanges(connection)
  }

  /// Takes all messages that have been read: the descriptor tells nothing of them.
  private func takeChanges(_ connection: Connection) throws(ClientError) {
    while let reply = try connection.nextReply() {
      take(try Request.changes().answer(reply), isFirst: false)
    }
  }

  /// Adds the updates of a message, in the order in which they happened.
  private func take(_ message: MonitorMessage, isFirst: Bool) {
    updates += message.changes.map(Update.change)
    // The missed changes come between the changes of the message and its state.
    if message.missed != 0 { updates.append(.missed(message.missed)) }
    if isFirst || message.missed != 0 { updates.append(.states(message.state)) }
    last = (message.state.modes.sequence, message.state.instance)
  }
}
