import KeymodeClient
import Session
import System
import Terminal

/// `keymodectl wait MACHINE=STATE…`: ends when all machines are in these states at the same time.
func wait(_ invocation: Invocation) throws -> Int32 {
  guard let conditions = try StateConditions(invocation.operands) else {
    throw UsageError("wait takes at least one MACHINE=STATE")
  }
  return try StateWait(for: conditions, invocation).result()
}

/// Waits for states, and for a daemon that has them.
private final class StateWait {
  private let conditions: StateConditions
  private let invocation: Invocation
  private let mainLoop: MainLoop<Int32>
  private var expiry: EventSource?
  private var hasExpired = false
  /// Whether the daemon has answered, or the follower has reported that there is no daemon.
  private var isAnswered = false
  /// Why there is no daemon now; `nil` if there is one.
  private var absence: ClientError?

  init(for conditions: StateConditions, _ invocation: Invocation) throws(SystemError) {
    (self.conditions, self.invocation) = (conditions, invocation)
    mainLoop = try MainLoop()
  }

  /// Waits until the states hold or the time is over, and returns the exit status.
  ///
  /// - Throws: `ClientError` if waiting would not help, and `UsageError` if the daemon has no such
  ///   states.
  func result() throws -> Int32 {
    let follower = try StatesFollower(
      invocation.daemon.directory, of: conditions.machines, checking: conditions, on: mainLoop.loop,
      anySession: true
    ) { [self] update in mainLoop.perform { try handle(update.get()) } }
    if let timeout = invocation.timeout {
      expiry = try mainLoop.loop.call(after: timeout) { [self] in expire() }
    }
    return try mainLoop.runUntilEnd(keeping: follower)
  }

  private func handle(_ update: StatesUpdate) throws {
    isAnswered = true
    switch update {
    case .states(let states, _):
      absence = nil
      if conditions.hold({ states[$0] }) { mainLoop.end(ExitStatus.done) }
    case .unknown(.noDaemon(let reason)): try loseDaemon(reason)
    case .unknown(.sessionNotInFront): break
    }
    if hasExpired { finish() }
  }

  /// Ends the wait at once if the daemon has answered, otherwise after one more second: even the
  /// shortest wait succeeds if the states hold already.
  private func expire() {
    hasExpired = true
    guard !isAnswered else { return finish() }
    mainLoop.perform { expiry = try mainLoop.loop.call(after: .seconds(1)) { [self] in finish() } }
  }

  /// Ends the wait without the states; with an error if there is no daemon.
  private func finish() {
    if let absence, absence.mayBeTemporary {
      mainLoop.fail(absence)
    } else {
      mainLoop.end(ExitStatus.failed)
    }
  }

  private func loseDaemon(_ reason: ClientError) throws {
    // A slow daemon is waited for only if the user set a timeout.
    let isAwaited =
      if case .noAnswer = reason { invocation.timeout != nil } else { reason.mayBeTemporary }
    guard invocation.mayWait, isAwaited else { throw reason }
    if !hasExpired, absence != reason, reason.mayBeTemporary { reportWaiting(after: reason) }
    absence = reason
  }
}

extension ClientError {
  /// Whether waiting may help: the daemon, or the permission to read, may come.
  fileprivate var mayBeTemporary: Bool {
    switch self {
    case .noDaemon, .connectionLost, .permissionDenied: true
    default: false
    }
  }
}
