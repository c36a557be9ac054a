import KeymodeInterface
import SystemCalls
import Varlink

/// How long a subscription waits before it tries again to connect. The watch for the socket usually
/// ends the wait sooner; the time covers what the watch cannot see, such as a daemon that begins to
/// listen on an existing socket.
package struct RetryDelays: Sendable {
  let shortest: Duration
  let longest: Duration

  static let settling = Duration.milliseconds(10)
  /// How long a new socket may belong to another group than the one that may use it: a program
  /// creates it before it changes its group.
  package static let granting = Duration.seconds(1)
  static let usual = RetryDelays(shortest: .milliseconds(10), longest: .seconds(5))

  /// Waits `shortest` the first time, then twice as long each time, up to `longest`.
  package init(shortest: Duration, longest: Duration) {
    (self.shortest, self.longest) = (shortest, longest)
  }
}

/// A subscription that outlives its connections.
///
///     connecting ── states ──> connected ── the daemon goes ──> connecting …
///
/// It runs wherever it is asked, on the main actor too: a thread of the runtime's pool would start
/// libdispatch's timer, which wakes the process every second from then on.
///
/// A new connection resumes after the last change, which it names by number and instance.
final class Subscription {
  private let directory: String
  private let retryDelays: RetryDelays
  private var link: Link?
  private var pending: ArraySlice<Update> = []
  /// The last change that was received, or that the received states include.
  private var last: (sequence: Int64, instance: String)?
  private var delay: Duration
  private var isAbsenceTold = false
  /// When this user's lack of permission no longer passes by itself; `nil` before there is one.
  private var grantDeadline: ContinuousClock.Instant?
  private var isOver = false

  init(directory: String, retryDelays: RetryDelays) {
    self.directory = directory
    self.retryDelays = retryDelays
    delay = retryDelays.shortest
  }

  /// The next update; `nil` once the task is cancelled, and after an error.
  func next(isolation: isolated (any Actor)? = #isolation) async throws(ClientError) -> Update? {
    do throws(ClientError) {
      while !isOver {
        if Task.isCancelled { throw .cancelled }
        if let update = pending.popFirst() { return update }
        try await advance()
      }
      return nil
    } catch {
      isOver = true
      link = nil
      pending = []
      if case .cancelled = error { return nil }
      throw error
    }
  }

  /// Connects, or receives one message; either may add updates to `pending`.
  private func advance(
    isolation: isolated (any Actor)? = #isolation
  ) async throws(ClientError) {
    guard let link else { return try await connect() }
    do throws(ClientError) {
      take(try await link.next(.changes()), isFirst: false)
    } catch .connectionLost {
      lose(.connectionLost)
    }
  }

  private func connect(
    isolation: isolated (any Actor)? = #isolation
  ) async throws(ClientError) {
    // The watch begins before the attempt, so that a socket created in between is noticed.
    let watch = SocketWatch("\(directory)/\(SocketDirectory.stateSocket)")
    do throws(ClientError) {
      let link = try Link.reading(in: directory)
      take(try await subscribe(link), isFirst: true)
      // The next change may come hours later.
      link.deadline = nil
      self.link = link
      delay = retryDelays.shortest
      (isAbsenceTold, grantDeadline) = (false, nil)
    } catch {
      guard isPassing(error) else { throw error }
      // The reader receives one `.disconnected`, before the first wait.
      if !isAbsenceTold { return lose(error) }
      try await pause(watch)
    }
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
      let deadline = grantDeadline ?? .now.advanced(by: RetryDelays.granting)
      grantDeadline = deadline
      return .now < deadline
    case .permissionDenied: return last != nil
    case .badReply, .refused, .failed, .cancelled: return false
    }
  }

  private func lose(_ error: ClientError) {
    link = nil
    isAbsenceTold = true
    pending.append(.disconnected(error))
  }

  /// Waits until it is worth trying again.
  private func pause(
    _ watch: SocketWatch?, isolation: isolated (any Actor)? = #isolation
  ) async throws(ClientError) {
    var result = try await wait(delay, watch)
    if result == .ready {
      // The daemon binds the socket before it listens. The pause also bounds the attempts when
      // another process keeps creating files.
      result = try await wait(RetryDelays.settling, nil)
      delay = retryDelays.shortest
    } else {
      delay = min(delay * 2, retryDelays.longest)
    }
    if result == .cancelled { throw .cancelled }
  }

  private func wait(
    _ delay: Duration, _ watch: SocketWatch?, isolation: isolated (any Actor)? = #isolation
  ) async throws(ClientError) -> Poller.WaitResult {
    let usual = ContinuousClock.now.advanced(by: delay)
    let deadline = grantDeadline.map { min($0, usual) } ?? usual
    do throws(SystemError) {
      guard let watch else { return try await Poller.shared.wait(toRead: -1, until: deadline) }
      return try await watch.wait(until: deadline)
    } catch {
      throw .failed("\(error)")
    }
  }

  private func subscribe(
    _ link: Link, isolation: isolated (any Actor)? = #isolation
  ) async throws(ClientError) -> MonitorMessage {
    do throws(ClientError) {
      return try await link.ask(.changes(after: last))
    } catch .refused(name: VarlinkError.invalidParameter("after").name, _) where last != nil {
      // The daemon knows the instance but not the change: it has restored an older state.
      last = nil
      pending.append(.missed(nil))
      return try await subscribe(link)
    }
  }

  /// Adds the updates of a message to `pending`, in the order in which they happened.
  private func take(_ message: MonitorMessage, isFirst: Bool) {
    pending += message.changes.map(Update.change)
    // The missed changes come between the changes of the message and its state.
    if message.missed != 0 { pending.append(.missed(message.missed)) }
    if isFirst || message.missed != 0 { pending.append(.states(message.state)) }
    last = (message.state.modes.sequence, message.state.instance)
  }
}
