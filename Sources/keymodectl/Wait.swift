import Acting
import KeymodeClient
import Linux
import Terminal
import Wire

/// `keymodectl wait MACHINE=STATE…`: ends when all machines are in these states at once.
func wait(_ invocation: Invocation) throws -> Int32 {
  guard let conditions = try StateConditions(invocation.operands) else {
    throw UsageError("wait takes at least one MACHINE=STATE")
  }
  let wait = try StateWait(
    for: conditions, of: invocation.daemon.directory, mayWait: invocation.mayWait)
  return try wait.result(timeout: invocation.timeout)
}

/// Waits for states, and for a daemon that has them.
private final class StateWait {
  private let directory: String
  private let mayWait: Bool
  private let run: Run<Int32>
  private let start = ContinuousClock.now
  private var end: ContinuousClock.Instant?
  private var expiry: EventSource?
  private let conditions: StateConditions
  private var held: HeldConditions
  /// Whether the daemon has the states that are awaited; before that is known, none counts.
  private var isChecked: Bool
  private var checking: EventSource?
  /// Whether the states held, also before it was known that they count.
  private var haveHeld = false
  /// Whether the daemon has answered, or is known not to be there.
  private var isAnswered = false
  /// Why there is no daemon now.
  private var absence: ClientError?

  init(for conditions: StateConditions, of directory: String, mayWait: Bool) throws(SystemError) {
    (self.directory, self.mayWait) = (directory, mayWait)
    run = try Run()
    self.conditions = conditions
    held = HeldConditions(conditions)
    isChecked = conditions.keyboard.isEmpty
  }

  /// Waits until the states hold, and returns the exit status.
  ///
  /// - Parameter timeout: how long to wait at most.
  /// - Throws: `ClientError` if waiting would not help, and `UsageError` if the daemon has no such
  ///   states.
  func result(timeout: Duration?) throws -> Int32 {
    end = timeout.map { start.advanced(by: $0) }
    let follower = try StatesFollower(
      directory, of: conditions.machines, on: run.loop, anySession: true
    ) { [self] occurrence in run.perform { try take(occurrence.get()) }
    }
    if let timeout { expiry = try run.loop.call(after: timeout) { [self] in expire() } }
    return try run.untilEnd(keeping: follower)
  }

  private func take(_ occurrence: Occurrence) throws {
    switch occurrence {
    case .unknown(.noDaemon(let reason)): try lose(reason)
    case .states, .unknown(.sessionNotInFront): absence = nil
    }
    if case .entered = held.take(occurrence) { haveHeld = true }
    if isChecked || absence != nil { judge() } else { try check() }
  }

  /// Ends the wait if the states count and held, or its time is over.
  private func judge() {
    isAnswered = true
    if isChecked, haveHeld { run.end(ExitStatus.done) } else if isOver { expire() }
  }

  private var isOver: Bool { end.map { $0 <= .now } ?? false }

  /// Ends the wait at its timeout. The daemon's first answer comes at once, so states that hold
  /// already end the wait however short the timeout is.
  private func expire() {
    let patience = start.advanced(by: .seconds(1))
    run.perform {
      if !isAnswered, .now < patience {
        let left = ContinuousClock.now.duration(to: patience)
        expiry = try run.loop.call(after: left) { [self] in expire() }
        return
      }
      // Why there is no daemon, unless it is slow.
      if let absence, absence.isOfNoDaemon { throw absence }
      run.end(ExitStatus.no)
    }
  }

  private func lose(_ reason: ClientError) throws {
    // Without a timeout, a daemon that does not answer in five seconds is not waited for.
    guard mayWait, reason.isOfNoDaemon || end != nil && reason.isOfSlowDaemon else { throw reason }
    if !isOver, absence == nil, reason.isOfNoDaemon { tellOfWaiting(reason) }
    absence = reason
  }

  /// Asks the daemon whether it has the states: no other can ever hold.
  private func check() throws {
    guard checking == nil else { return }
    checking = try run.loop.ask(.machines, of: directory) { [self] answer in
      checking = nil
      run.perform {
        switch answer {
        case .success(let machines):
          try conditions.check(machines)
          isChecked = true
          judge()
        // It has ended meanwhile, and is asked again when it is back.
        case .failure(let error):
          guard error.isOfNoDaemon else { throw error }
          haveHeld = false
        }
      }
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
