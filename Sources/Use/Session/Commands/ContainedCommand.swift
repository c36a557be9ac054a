import Glibc
public import System
import Terminal

/// The outcome of a run of a command.
public enum CommandOutcome: Hashable, Sendable {
  /// The command could not be started, because of this `errno`.
  case failed(Int32)
  /// The command has ended in this way, and no process of it is left. If a tracer, such as a
  /// debugger, keeps the status from this program, the command counts as killed.
  case ended(ChildProcess.End)

  /// The exit status that a shell gives for this outcome.
  public var exitStatus: Int32 {
    switch self {
    case .ended(.exited(let status)): status
    case .ended(.signalled(let number)): 128 + number
    case .failed(let code): code == ENOENT ? 127 : 126
    }
  }
}

/// A command that has one run at a time, in a control group. A run has ended once all processes
/// that it started have ended.
final class ContainedCommand {
  private let command: [String]
  private let unit: CommandUnit
  private let loop: EventLoop
  private let grace: Duration
  private let notify: (CommandOutcome) -> Void

  private var group: ControlGroup?
  private var firstProcess: ChildProcess?
  private var outcome: CommandOutcome?
  /// The processes in the control group when ``end(by:)`` last sent a signal to the process group.
  private var asked: Set<Int32> = []
  /// Whether the command was told to end, or its first process has ended: the grace has begun, and
  /// is not prolonged.
  private var isEnding = false
  // The handlers of these sources refer to this object as unowned, because it owns the sources.
  private var firstEnds: EventSource?
  private var groupChanges: EventSource?
  private var deadline: EventSource?

  /// A command that runs in `unit`. The loop calls `notify` with the outcome of each run
  /// that has begun.
  init(
    _ command: [String], in unit: CommandUnit, grace: Duration, on loop: EventLoop,
    notify: @escaping (CommandOutcome) -> Void
  ) throws(SystemError) {
    (self.command, self.unit, self.grace) = (command, unit, grace)
    (self.loop, self.notify) = (loop, notify)
    deadline = try loop.addTimer { [unowned self] in
      // The first process may have left the group and changed its user; `kill` cannot end it then.
      let isBeyondReach = !kill() && group?.isPopulated == false
      // The kernel reports an empty group up to 10 ms late, or never if the end of the unit removed
      // the group first.
      noticeEnd(orGivingUp: isBeyondReach)
      if isEnding { deadline?.set(after: .milliseconds(100)) }
    }
  }

  /// Starts the command, with these variables added to the environment of this process.
  ///
  /// - Precondition: the command does not run.
  /// - Returns: the `errno` if the command could not be started; `nil` if it runs.
  func start(adding variables: [(name: String, value: String)]) -> Int32? {
    for (name, value) in variables { setenv(name, value, 1) }
    do throws(SystemError) {
      let group = try unit.makeGroup()
      groupChanges = try loop.addIO(group.changes, .exceptional) { [unowned self] _ in noticeEnd() }
      let child = try ChildProcess(running: command, in: group)
      (self.group, firstProcess) = (group, child)
      firstEnds = try loop.addIO(child.descriptor, .readable) { [unowned self] _ in noticeEnd() }
      return nil
    } catch {
      // If the loop refused the descriptor of the first process, the command runs already.
      if kill() { _ = firstProcess?.reap(waiting: true) }
      forget()
      return error.code
    }
  }

  /// Ends the command: by this signal to its process group, and after the grace by SIGKILL to all
  /// processes that are left. A second call sends its signal too, within the same grace.
  func end(by signal: Int32) {
    guard firstProcess != nil else { return }
    asked = Set(group?.members ?? [])
    send(signal)
    // A stopped process could not end.
    send(SIGCONT)
    beginGrace()
  }

  /// Kills all processes of the command, and the first process even outside the control group.
  /// Returns `false` if the first process belongs to another user.
  @discardableResult
  func kill() -> Bool {
    group?.kill()
    return firstProcess?.kill() != false
  }

  // MARK: - What happens

  private func noticeEnd(orGivingUp isBeyondReach: Bool = false) {
    // Reads this in any case: until it is read, the descriptor of the group's changes stays ready.
    let isPopulated = group?.isPopulated == true
    guard firstProcess?.hasEnded == true || isBeyondReach else { return }
    if outcome == nil { outcome = firstProcess?.reap().map(CommandOutcome.ended) }
    // The descriptor of an ended process stays readable, so its source must go.
    if let ended = firstEnds {
      ended.end()
      firstEnds = nil
      askLeftoversToEnd()
      beginGrace()
    }
    guard !isPopulated else { return }
    let outcome = outcome ?? .ended(.signalled(SIGKILL))
    forget()
    notify(outcome)
  }

  /// Begins the grace, unless it has begun. After the grace, the remaining processes are killed.
  private func beginGrace() {
    if !isEnding { deadline?.set(after: grace) }
    isEnding = true
  }

  // MARK: - What is done

  /// Sends a signal to the command's process group.
  private func send(_ signal: Int32) {
    if firstEnds != nil {
      firstProcess?.send(signal)
    } else if let number = firstProcess?.id {
      // The first process has ended. Its number may belong to another process group by now, but not
      // while a process of the command is still in the process group of this number.
      for process in group?.members ?? [] where getpgid(process) == number {
        Glibc.kill(process, signal)
      }
    }
  }

  /// Asks all processes that the first process has left behind to end, except processes of its
  /// process group that were asked before.
  ///
  /// A shell may block signals while it starts a process. A signal that the group gets before that
  /// process exists then ends only the shell.
  private func askLeftoversToEnd() {
    let number = firstProcess?.id
    for process in group?.members ?? [] where !asked.contains(process) || getpgid(process) != number
    {
      Glibc.kill(process, SIGTERM)
      Glibc.kill(process, SIGCONT)
    }
  }

  private func forget() {
    groupChanges?.end()
    firstEnds?.end()
    deadline?.disable()
    (groupChanges, firstEnds) = (nil, nil)
    (group, firstProcess, outcome, asked, isEnding) = (nil, nil, nil, [], false)
  }
}
