import JSON
import KeyboardModes
import KeymodeInterface
import SystemCalls
import Varlink

/// How long a subscription waits before it tries again to connect. The watch for the socket usually
/// ends this sooner; the time is for what it cannot see, such as a socket with nobody behind it.
package struct Patience: Sendable {
  let shortest: Duration
  let longest: Duration

  static let settling = Duration.milliseconds(10)
  static let usual = Patience(shortest: .milliseconds(10), longest: .seconds(5))

  /// The first time, and that up to which it doubles.
  package init(shortest: Duration, longest: Duration) {
    self.shortest = shortest
    self.longest = longest
  }
}

/// A subscription that outlives the connections it is made of.
///
///     connecting ── states ──> connected ── the daemon goes ──> connecting …
///
/// What a new connection needs to go on from the last is the number of the last change and the
/// instance that it belongs to.
actor Subscription {
  private let directory: String
  private let patience: Patience
  private var link: Link?
  private var pending: ArraySlice<Update> = []
  /// The last change that was told, or that the states told of.
  private var last: (sequence: Int64, instance: String)?
  private var delay: Duration
  private var isAbsenceTold = false
  private var isOver = false

  init(directory: String, patience: Patience) {
    self.directory = directory
    self.patience = patience
    delay = patience.shortest
  }

  /// The next update; `nil` when the task is cancelled, and ever after.
  func next() async throws(ClientError) -> Update? {
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

  /// One step; it may have made updates.
  private func advance() async throws(ClientError) {
    guard let link else { return try await connect() }
    do throws(ClientError) {
      take(try await Subscription.message(link), isFirst: false)
    } catch .connectionLost {
      lose(.connectionLost)
    }
  }

  private func connect() async throws(ClientError) {
    // Before it is tried, so that what comes in between is not overlooked.
    let watch = SocketWatch("\(directory)/\(SocketDirectory.stateSocket)")
    do throws(ClientError) {
      let link = try Link.reading(in: directory)
      take(try await subscribe(link), isFirst: true)
      // Nothing may happen for hours.
      link.deadline = nil
      self.link = link
      delay = patience.shortest
      isAbsenceTold = false
    } catch {
      guard isPassing(error) else { throw error }
      // Whoever reads is told once, before the waiting.
      if !isAbsenceTold { return lose(error) }
      try await pause(watch)
    }
  }

  /// Whether a failure to connect may be over soon.
  private func isPassing(_ error: ClientError) -> Bool {
    switch error {
    case .noDaemon, .noAnswer, .connectionLost,
      .refused(name: ControllerInterface.tooManyClients, _):
      true
    // A socket is made before it is given to its group; somebody who had it will have it again.
    case .permissionDenied: last != nil
    case .badReply, .refused, .failed, .cancelled: false
    }
  }

  private func lose(_ error: ClientError) {
    link = nil
    isAbsenceTold = true
    pending.append(.disconnected(error))
  }

  /// Waits until it is worth trying again.
  private func pause(_ watch: SocketWatch?) async throws(ClientError) {
    var outcome = try await wait(delay, watch)
    if outcome == .ready {
      // The socket is bound before somebody listens, and nobody who makes files shall keep this busy.
      outcome = try await wait(Patience.settling, nil)
      delay = patience.shortest
    } else {
      delay = min(delay * 2, patience.longest)
    }
    if outcome == .cancelled { throw .cancelled }
  }

  private func wait(
    _ delay: Duration, _ watch: SocketWatch?
  ) async throws(ClientError) -> Poller.Outcome {
    let deadline = ContinuousClock.now.advanced(by: delay)
    do throws(SystemError) {
      guard let watch else { return try await Poller.shared.wait(toRead: -1, until: deadline) }
      return try await watch.wait(until: deadline)
    } catch {
      throw .failed("\(error)")
    }
  }

  private func subscribe(_ link: Link) async throws(ClientError) -> MonitorMessage {
    var known: [JSON.Member] = []
    if let last {
      known.append(.init("after", .integer(last.sequence)))
      known.append(.init("instance", .string(last.instance)))
    }
    try await link.send(Call(ControllerInterface.monitor, known, wantsMore: true))
    do throws(ClientError) {
      return try await Subscription.message(link)
    } catch .refused(name: VarlinkError.invalidParameter("after").name, _) where last != nil {
      // It knows the instance but not the change: its memory was not whole.
      last = nil
      pending.append(.missed(nil))
      return try await subscribe(link)
    }
  }

  private nonisolated(nonsending) static func message(
    _ link: Link
  ) async throws(ClientError) -> MonitorMessage {
    guard let message = MonitorMessage(try await link.receive()) else {
      throw .badReply("without states and changes")
    }
    return message
  }

  /// What a message tells, in the order in which it happened.
  private func take(_ message: MonitorMessage, isFirst: Bool) {
    pending += message.changes.map(Update.change)
    // Those that are missing come between the changes and the state.
    if message.missed != 0 { pending.append(.missed(message.missed)) }
    if isFirst || message.missed != 0 { pending.append(.states(message.state)) }
    last = (message.state.modes.sequence, message.state.instance)
  }
}
