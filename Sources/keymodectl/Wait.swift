import CommandLineTools
import KeyboardModes
import KeymodeClient
import SystemCalls
import Watching

/// `keymodectl wait MACHINE=STATE…`: ends when all machines are in these states at once.
///
/// - Parameter mayWait: whether to wait for a daemon if none runs.
@MainActor
func wait(
  _ operands: [String], of client: Client, timeout: Duration?, mayWait: Bool
) async throws -> Int32 {
  guard let conditions = try StateConditions(operands) else {
    throw UsageError("wait takes at least one MACHINE=STATE")
  }
  let wait = StateWait(for: conditions, of: client, timeout: timeout, mayWait: mayWait)
  return try await withThrowingTaskGroup(of: Int32.self) { tasks in
    tasks.addTask { try await wait.follow() }
    if let timeout { tasks.addTask { try await wait.expire(after: timeout) } }
    defer { tasks.cancelAll() }
    return try await tasks.next() ?? ExitStatus.no
  }
}

/// Waits for states, and for a daemon that has them.
@MainActor
private final class StateWait {
  private let client: Client
  private let mayWait: Bool
  private let start: ContinuousClock.Instant
  private let end: ContinuousClock.Instant?
  private var awaited: AwaitedStates
  /// Whether the daemon has the states that are awaited; before that is known, none counts.
  private var isChecked: Bool
  /// Whether the daemon has answered, or is known not to be there.
  private var isAnswered = false
  /// Why there is no daemon now.
  private var absence: ClientError?

  init(for conditions: StateConditions, of client: Client, timeout: Duration?, mayWait: Bool) {
    (self.client, self.mayWait) = (client, mayWait)
    let start = ContinuousClock.now
    self.start = start
    end = timeout.map { start.advanced(by: $0) }
    awaited = AwaitedStates(conditions)
    isChecked = conditions.keyboard.isEmpty
  }

  /// Waits until the states hold.
  ///
  /// - Throws: `ClientError` if waiting would not help, and `UsageError` if the daemon has no such
  ///   states.
  func follow() async throws -> Int32 {
    for try await update in client.changes {
      switch update {
      case .disconnected(let reason): try lose(reason)
      case .states:
        absence = nil
        try await check()
      case .change, .missed: break
      }
      isAnswered = true
      if awaited.take(update), isChecked { return ExitStatus.done }
      if isOver { return try result() }
    }
    return ExitStatus.no
  }

  /// Waits until the timeout. The daemon's first answer comes at once, so states that hold already end
  /// the wait however short the timeout is.
  func expire(after timeout: Duration) async throws -> Int32 {
    try await Self.sleep(until: start.advanced(by: timeout))
    if !isAnswered { try await Self.sleep(until: start.advanced(by: .seconds(1))) }
    return try result()
  }

  private static func sleep(until end: ContinuousClock.Instant) async throws {
    if end > .now { _ = try await Poller.shared.wait(toRead: -1, until: end) }
  }

  private var isOver: Bool { end.map { $0 <= .now } ?? false }

  /// The exit status at the timeout. Throws why there is no daemon, unless it is slow.
  private func result() throws -> Int32 {
    if let absence, absence.isOfNoDaemon { throw absence }
    return ExitStatus.no
  }

  private func lose(_ reason: ClientError) throws {
    // Without a timeout, a daemon that does not answer in five seconds is not waited for.
    guard mayWait, reason.isOfNoDaemon || end != nil && reason.isOfSlowDaemon else { throw reason }
    if !isOver, absence == nil, reason.isOfNoDaemon { tellOfWaiting(reason) }
    absence = reason
  }

  /// Asks the daemon whether it has the states: no other can ever hold.
  private func check() async throws {
    guard !isChecked else { return }
    do {
      try awaited.conditions.check(await client.machines())
      isChecked = true
    } catch let error as ClientError where error.isOfNoDaemon {
      // It has ended meanwhile, and is asked again when it is back.
    }
  }
}

extension ClientError {
  /// Whether there is no daemon, which may come.
  var isOfNoDaemon: Bool {
    switch self {
    case .noDaemon, .connectionLost: true
    default: false
    }
  }

  /// Whether there is a daemon that does not answer.
  fileprivate var isOfSlowDaemon: Bool {
    if case .noAnswer = self { true } else { false }
  }
}
