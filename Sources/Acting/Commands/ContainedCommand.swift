import Glibc
public import Linux
import StateMachines
import Terminal

/// What became of a command.
public enum CommandOutcome: Hashable, Sendable {
  /// It could not be started, for this `errno`.
  case failed(Int32)
  /// It has ended in this way, and nothing of it is left. It counts as killed if only a tracer
  /// learned its status.
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

/// A command that has one run at a time, in a control group. It is ended with all that it
/// has started.
final class ContainedCommand {
  private let command: [String]
  private let unit: CommandUnit
  private let loop: EventLoop
  private let told: (CommandOutcome) -> Void

  private var machine: StateMachine<RunRules>
  private var group: ControlGroup?
  private var first: ChildProcess?
  private var outcome: CommandOutcome?
  /// The processes that were there when the first one's process group was asked to end.
  private var asked: Set<Int32> = []
  // The sources call this object, and go with it.
  private var firstEnds: EventSource?
  private var groupChanges: EventSource?
  private var deadline: EventSource?

  /// A command that runs in `unit`. The loop calls `told` with what became of each run that
  /// has begun.
  init(
    _ command: [String], in unit: CommandUnit, grace: Duration, on loop: EventLoop,
    told: @escaping (CommandOutcome) -> Void
  ) throws(SystemError) {
    (self.command, self.unit, self.loop, self.told) = (command, unit, loop, told)
    machine = StateMachine(RunRules(grace: grace.wholeMicroseconds))
    deadline = try loop.addTimer { [unowned self] in
      take(.deadlineCame)
      // The kernel tells of an empty group up to 10 ms late; never, if the unit's end removed
      // it first.
      look()
      if machine.state == .killing { deadline?.set(after: .milliseconds(100)) }
    }
  }

  /// Starts the command, with these variables besides those of this process.
  ///
  /// - Precondition: it does not run.
  /// - Returns: the `errno` of why it could not be started; `nil` if it runs.
  func start(adding variables: [(name: String, value: String)]) -> Int32? {
    for (name, value) in variables { setenv(name, value, 1) }
    do throws(SystemError) {
      let group = try unit.group()
      groupChanges = try loop.addIO(group.changes, .exceptional) { [unowned self] _ in look() }
      let first = try ChildProcess(running: command, in: group)
      (self.group, self.first) = (group, first)
      firstEnds = try loop.addIO(first.descriptor, .readable) { [unowned self] _ in look() }
      take(.started)
      return nil
    } catch {
      // If the loop refused its descriptor, the command runs already.
      group?.kill()
      forget()
      return error.code
    }
  }

  /// Ends the command: by this signal to its process group, and after the grace by SIGKILL to all
  /// that is left of it. Another call sends another signal, and puts off nothing.
  func end(by signal: Int32) {
    guard machine.state != .idle else { return }
    asked = Set(group?.members ?? [])
    send(signal)
    // A stopped process could not end.
    send(SIGCONT)
    take(.endOrdered(at: microsecondsSinceBoot()))
  }

  /// Passes a signal on to the command's process group, if the command runs.
  func pass(_ signal: Int32) { if machine.state == .running { send(signal) } }

  /// Kills what is left of the command.
  func close() { if machine.state != .idle { group?.kill() } }

  // MARK: - What happens

  private func look() {
    // Reading it makes the descriptor unready.
    let isPopulated = group?.isPopulated == true
    guard first?.hasEnded == true else { return }
    if outcome == nil { outcome = first?.end().map(CommandOutcome.ended) }
    // The descriptor of an ended process stays readable.
    if let ended = firstEnds {
      ended.end()
      firstEnds = nil
      if machine.state != .running { ask(sparing: asked) }
      take(.firstEnded(at: microsecondsSinceBoot()))
    }
    if !isPopulated { take(.allEnded) }
  }

  private func take(_ event: RunRules.Event) {
    guard let transition = machine.take(event) else { return }
    switch (transition.from, transition.to) {
    case (.running, .ending(let time)):
      deadline?.set(at: UInt64(clamping: time))
      if case .firstEnded = event { ask() }
    case (.ending, .killing): group?.kill()
    case (_, .idle):
      deadline?.disable()
      let outcome = outcome ?? .ended(.signalled(SIGKILL))
      forget()
      told(outcome)
    case (.idle, _), (.running, _), (.ending, _), (.killing, _): break
    }
  }

  // MARK: - What follows

  /// Sends a signal to the command's process group.
  private func send(_ signal: Int32) {
    if firstEnds != nil {
      first?.send(signal)
    } else if let number = first?.number {
      // The number may be another group's by now, unless a process of the command is in it.
      for process in group?.members ?? [] where getpgid(process) == number { kill(process, signal) }
    }
  }

  /// Asks all processes of the command to end, but those in its process group that were
  /// asked before.
  ///
  /// A shell may block signals while it starts a process. A signal that the group got before the
  /// process existed ends only the shell.
  private func ask(sparing asked: Set<Int32> = []) {
    let number = first?.number
    for process in group?.members ?? [] where !asked.contains(process) || getpgid(process) != number
    {
      kill(process, SIGTERM)
      kill(process, SIGCONT)
    }
  }

  private func forget() {
    groupChanges?.end()
    firstEnds?.end()
    (groupChanges, firstEnds) = (nil, nil)
    (group, first, outcome, asked) = (nil, nil, nil, [])
  }
}
