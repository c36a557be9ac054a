package import KeyboardModes
import System
import Wire

/// A subscription that outlives its connections.
///
///     away ── connects ──> asked ── states ──> connected ── the daemon goes ──> away …
///
/// While away, the subscription tries to connect, at first often and then once a second. Without
/// permission, it tries again when the folder of the sockets changes or, if it cannot watch the
/// folder, once a second. It resumes after the last change, which it names by number and instance.
///
/// Wait until ``descriptor`` is readable, then call ``advance()``.
package final class Subscription {
  private enum Phase {
    /// There is no connection. The next attempt comes at this time or, if the time is `nil`, when
    /// ``folderWatch`` sees a change.
    case away(attempt: SuspendingClock.Instant?)
    /// The daemon must send the states before this time.
    case asked(Connection, deadline: SuspendingClock.Instant)
    /// The daemon sends changes.
    case connected(Connection)
    /// Trying again would not help.
    case over(ClientError)
  }

  private static let answerTimeout = Duration.seconds(5)
  private static let minDelay = Duration.milliseconds(10)
  private static let maxDelay = Duration.seconds(1)

  private let directory: String
  private let machines: Set<MachineName>?
  private let wakeup: Wakeup
  private var phase = Phase.away(attempt: .now)
  /// The last change that was received, or that the received states include.
  private var last: (sequence: Int64, instance: String)?
  /// The machines of the last message. A new configuration may have others.
  private var knownMachines: [MachineName] = []
  /// Since when the daemon is away, as an update has reported; `nil` while the daemon is connected.
  private var absenceStart: SuspendingClock.Instant?
  /// Watches the folder of the sockets while this user may not use the socket: without permission,
  /// the socket itself cannot be watched. `nil` if the user may not read the folder either.
  private var folderWatch: FolderWatchDescriptor?
  /// Whether this user lacked the permission at the last attempt.
  private var isDenied = false
  /// What the present call of ``advance()`` returns.
  private var updates: [Update] = []

  /// Readable when there is something to do: at once, and then whenever something has arrived or it
  /// is time for the next attempt to connect.
  package var descriptor: Int32 { wakeup.descriptor }

  /// A subscription to the daemon that serves in `directory`.
  ///
  /// - Parameter machines: the machines whose changes are received, at least one; `nil` for all.
  package init(
    to directory: String, of machines: Set<MachineName>? = nil
  ) throws(ClientError) {
    (self.directory, self.machines) = (directory, machines)
    wakeup = try Wakeup()
    try wakeup.wait(for: nil, until: .now)
  }

  /// Does what can be done without waiting, and returns the new updates, in the order in which they
  /// happened.
  ///
  /// - Throws: ``ClientError`` if waiting would not help, such as for an invalid reply. Then the
  ///   descriptor is not readable any more.
  package func advance() throws(ClientError) -> [Update] {
    defer { updates = [] }
    do throws(ClientError) {
      try step()
    } catch {
      wakeup.stop()
      phase = .over(error)
      if updates.isEmpty { throw error }
      // Returns the updates from before the error; the next call throws the error.
      try? wakeup.wait(for: nil, until: .now)
    }
    return updates
  }

  private func step() throws(ClientError) {
    switch phase {
    case .away(let time):
      let hasChanged = folderWatch?.hasChanged() == true
      // By now, another folder may be at the path.
      if hasChanged { unwatch() }
      if hasChanged || time.map({ $0 <= .now }) == true { try connect() }
    case .asked(let connection, let deadline): try awaitStates(connection, deadline)
    case .connected(let connection): try follow(connection)
    case .over(let error): throw error
    }
  }

  private func stayAway(until time: SuspendingClock.Instant?) throws(ClientError) {
    try wakeup.wait(for: folderWatch?.descriptor, until: time)
    phase = .away(attempt: time)
  }

  // MARK: - Without a connection

  private func connect() throws(ClientError) {
    do throws(ClientError) {
      let connection = try Connection.to(.state, in: directory)
      try subscribe(connection, deadline: .now.advanced(by: Self.answerTimeout))
    } catch {
      try retry(after: error)
    }
  }

  /// Reports the absence, once, and sets the time of the next attempt. Throws the error if another
  /// attempt would not help.
  private func retry(after error: ClientError) throws(ClientError) {
    switch error {
    case .noDaemon, .noAnswer, .connectionLost,
      .refused(name: ControllerInterface.tooManyClients, _):
      if absenceStart == nil { updates.append(.disconnected(error)) }
      isDenied = false
      unwatch()
    case .permissionDenied: return try awaitPermission(error)
    case .badReply, .refused, .failed, .cancelled: throw error
    }
    let start = absenceStart ?? .now
    absenceStart = start
    // Waits a quarter of the time that the daemon has been away so far.
    let quarter = start.duration(to: .now) / 4
    let delay = min(max(quarter, Self.minDelay), Self.maxDelay)
    try stayAway(until: .now.advanced(by: delay))
  }

  /// Reports once that this user lacks the permission. Tries again when the folder changes, as when
  /// the user comes to the front. If the folder cannot be watched, it tries again in a second.
  private func awaitPermission(_ error: ClientError) throws(ClientError) {
    if !isDenied { updates.append(.disconnected(error)) }
    (absenceStart, isDenied) = (absenceStart ?? .now, true)
    if folderWatch == nil, let watch = try? FolderWatchDescriptor(directory) {
      folderWatch = watch
      // Tries once more: the permission may have come before the watch did.
      return try connect()
    }
    try stayAway(until: folderWatch == nil ? .now.advanced(by: Self.maxDelay) : nil)
  }

  private func unwatch() {
    // The wakeup must not wait for a closed descriptor.
    wakeup.stop()
    folderWatch = nil
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
      addUpdates(of: try Request.changes().readAnswer(reply), isFirst: true)
    } catch .refused(name: VarlinkError.invalidParameter("after").name, _) where last != nil {
      // The daemon knows the instance but not the change: it has restored an older state.
      last = nil
      updates.append(.missed(nil))
      return try subscribe(connection, deadline: deadline)
    } catch {
      return try retry(after: error)
    }
    (absenceStart, isDenied) = (nil, false)
    unwatch()
    // No deadline: the next change may come hours later.
    try wakeup.wait(for: connection.descriptor, until: nil)
    phase = .connected(connection)
    try handleReplies(of: connection)
  }

  private func follow(_ connection: Connection) throws(ClientError) {
    do throws(ClientError) {
      try connection.read()
    } catch {
      absenceStart = .now
      updates.append(.disconnected(error))
      return try stayAway(until: .now)
    }
    try handleReplies(of: connection)
  }

  /// Handles all replies that have been read: the descriptor does not become readable for them.
  private func handleReplies(of connection: Connection) throws(ClientError) {
    while let reply = try connection.nextReply() {
      addUpdates(of: try Request.changes().readAnswer(reply), isFirst: false)
    }
  }

  /// Adds the updates of a message, in the order in which they happened.
  private func addUpdates(of message: MonitorReply, isFirst: Bool) {
    updates += message.changes.map(Update.change)
    // The missed changes come between the changes of the message and its state.
    if message.missed != 0 { updates.append(.missed(message.missed)) }
    let machines = message.state.states.machines
    if isFirst || message.missed != 0 || machines != knownMachines {
      updates.append(.states(message.state))
    }
    knownMachines = machines
    last = (message.state.states.sequence, message.state.instance)
  }
}
