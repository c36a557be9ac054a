import Glibc
public import KeymodeClient
import StateMachines
public import System
public import Terminal

/// A command that runs while states last: `keymodectl while`.
///
/// ``WhileCommandRules`` decide; this follows the states, reads signals, and starts and ends the
/// command, which runs in a ``CommandUnit``.
public final class WhileCommand {
  /// How this program ends.
  public enum End: Hashable, Sendable {
    /// With the outcome of the command, which ran once.
    case command(CommandOutcome)
    /// By this signal, which this program received.
    case signal(Int32)
  }

  private let command: [String]
  private let conditions: StateConditions
  private let directory: String
  private let notify: (TerminalText) -> Void
  private let progress: (TerminalText) -> Void
  /// While this program runs, this terminal hides what is typed, such as a held talk key, and does
  /// not pass it on to the shell.
  private let terminal: SilentTerminal?
  private let explain: (ClientError) -> TerminalText
  private let requiresEntry: Bool

  private let mainLoop: MainLoop<End>
  private weak var follower: StatesFollower?
  private var contained: ContainedCommand?
  private var liveness: Liveness?
  private var unitSources: [EventSource] = []

  private var held: HeldConditions
  private var machine: StateMachine<WhileCommandRules>
  /// How this program ends once the command has ended; `nil` while the program is to go on.
  private var end: Result<End, any Error>?
  private var hasReported = false
  /// Whether this program is to be stopped, as by Ctrl+Z, once the command has ended.
  private var isToStop = false

  /// A command for the states of the daemon that serves in `directory`.
  ///
  /// - Parameters:
  ///   - command: the program and its arguments; at least the program.
  ///   - runsOnce: whether the command runs a single time, and then
  ///     ``runUntilEnd(grace:anySession:mayWait:)`` returns.
  ///   - requiresEntry: whether a state counts only if it is entered while the daemon is connected,
  ///     the session in front and the computer awake.
  ///   - notify: receives the messages for the user about problems.
  ///   - progress: receives the messages about what the command waits for, its start and its end.
  ///   - terminal: silent while this program runs.
  ///   - explain: says why there is no daemon, and what the user can do.
  public init(
    _ command: [String], while conditions: StateConditions, of directory: String, runsOnce: Bool,
    requiresEntry: Bool, on terminal: SilentTerminal?, notify: @escaping (TerminalText) -> Void,
    progress: @escaping (TerminalText) -> Void,
    explain: @escaping (ClientError) -> TerminalText
  ) throws(SystemError) {
    mainLoop = try MainLoop()
    (self.command, self.conditions, self.directory) = (command, conditions, directory)
    (self.terminal, self.notify, self.progress) = (terminal, notify, progress)
    (self.explain, self.requiresEntry) = (explain, requiresEntry)
    held = HeldConditions(conditions, requiresEntry: requiresEntry)
    machine = StateMachine(WhileCommandRules(runsOnce: runsOnce))
  }

  /// Runs the command whenever the conditions hold, until a signal comes, or a command that runs
  /// once ends. When this returns, the command and all its descendants have ended.
  ///
  /// - Parameters:
  ///   - grace: how long the command may take to end.
  ///   - anySession: whether states count even if the user's session is not in front.
  ///   - mayWait: whether to wait for a daemon, at the start and when the daemon ends.
  /// - Throws: if systemd cannot make a unit for the command, `UsageError` if the daemon lacks a
  ///   state of the conditions, ``ClientError`` if waiting would not help, and `SystemError` if a
  ///   system call fails.
  public func runUntilEnd(grace: Duration, anySession: Bool, mayWait: Bool) throws -> End {
    let loop = mainLoop.loop
    // Made before the unit: making the unit may move this process out of its session.
    let follower = try StatesFollower(
      directory, checking: conditions, on: loop, anySession: anySession,
      followsSleep: requiresEntry, mayWait: mayWait
    ) { [self] update in
      switch update {
      case .success(let update): handle(update)
      case .failure(let error): quit(.failure(error))
      }
    }
    self.follower = follower
    // Sent before the unit is made: a manager that waits for this message starts no other unit.
    ServiceManager.notify("READY=1")
    let unit = try CommandUnit(grace: grace)
    let handled = [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGTSTP].filter { !Signals.isIgnored($0) }
    var signals = try loop.addSignals(handled) { [self] in handleSignal($0) }
    // A shell's `fg` may have brought this program from the background.
    signals += try loop.addSignals([SIGCONT]) { [self] _ in terminal?.enter() }
    let contained = try ContainedCommand(command, in: unit, grace: grace, on: loop) {
      [self] in ended($0)
    }
    self.contained = contained
    liveness = try Liveness(of: directory, on: loop) { [self] _ in handle(.left) }
    unitSources = try unit.watch(on: loop) { [self] in
      unitSources = []
      quit(.failure($0))
    }
    defer { contained.kill() }
    terminal?.enter()
    defer { terminal?.leave() }
    return try mainLoop.runUntilEnd(keeping: follower, signals)
  }

  // MARK: - What happens

  private func handle(_ update: StatesUpdate) {
    let event = held.handle(update)
    report(update)
    if let event { handle(event) }
  }

  /// Says at the start what the command waits for.
  private func report(_ update: StatesUpdate) {
    defer { hasReported = true }
    guard !hasReported else { return }
    switch update {
    case .states where held.startReason != nil: break
    case .states:
      let entered = requiresEntry ? " to be entered" : ""
      progress("waiting for \(conditions.text)\(entered); Ctrl+C ends it")
    case .unknown(let reason):
      let text = if case .noDaemon(let error) = reason { explain(error) } else { reason.text }
      notify("\(text);\n\(reason.waitingText)")
    }
  }

  private func handleSignal(_ signal: Int32) {
    if signal == SIGTSTP {
      isToStop = true
      handle(.left)
      stopIfWanted()
    } else {
      quit(.success(.signal(signal)), by: signal)
    }
  }

  /// Ends this program after the command. The command gets this signal.
  private func quit(_ end: Result<End, any Error>, by signal: Int32 = SIGTERM) {
    self.end = self.end ?? end
    handle(.quit, endingBy: signal)
  }

  private func ended(_ outcome: CommandOutcome) {
    if case .ended = outcome { progress("\(command.first ?? "") ended") }
    if machine.rules.runsOnce { end = end ?? .success(.command(outcome)) }
    handle(.ended)
  }

  // MARK: - What is done

  private func handle(_ event: WhileCommandRules.Event, endingBy signal: Int32 = SIGTERM) {
    guard let transition = machine.send(event) else {
      // A second signal is passed on, too.
      if event == .quit { contained?.end(by: signal) }
      return
    }
    if machine.state == .waiting { liveness?.end() }
    follower?.delaysSleep = machine.state != .waiting
    switch machine.rules.action(from: transition.from, to: transition.to) {
    case .start: start()
    case .end: contained?.end(by: signal)
    case .finish: if let end { mainLoop.end(with: end) }
    case nil: break
    }
    stopIfWanted()
  }

  private func start() {
    liveness?.begin()
    let variables = held.startReason?.variables ?? []
    guard let failure = contained?.start(adding: variables) else {
      return progress("started \(command.first ?? "")")
    }
    notify("\(SystemError("run", command.first ?? "", code: failure))")
    ended(.failed(failure))
  }

  /// Stops this program, if no command runs: a stopped program could not end the command.
  private func stopIfWanted() {
    guard isToStop, machine.state == .waiting else { return }
    isToStop = false
    SilentTerminal.stopProcess(leaving: terminal)
  }
}
