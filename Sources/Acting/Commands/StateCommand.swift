import Glibc
public import KeymodeClient
import KeymodeInterface
import StateMachines
public import SystemCalls
public import Systemd
public import Watching

/// A command that runs while states last: `keymodectl while`.
///
/// ``CommandRules`` decide; this follows the states, reads signals, and starts and ends the command, which
/// runs in a ``CommandScope``.
@MainActor
public final class StateCommand {
  private let client: Client
  private let follower: StatesFollower
  private let conditions: StateConditions
  private let command: [String]
  private let grace: Duration
  private let notify: (TerminalText) -> Void
  private let explain: (ClientError) -> TerminalText

  private let loop: EventLoop
  private let scope: CommandScope
  private var contained: ContainedCommand?

  private var held: HeldConditions
  private var machine: StateMachine<CommandRules>
  private var error: (any Error)?
  /// Whether the daemon has the states of the conditions; before that is known, nothing starts.
  private var isChecked: Bool
  private var hasTold = false
  /// Whether this program is to be stopped, as by Ctrl+Z, once the command has ended.
  private var isToStop = false
  /// What runs as long as the command, to notice what hangs.
  private var watches: [Task<Void, Never>] = []

  private let finished = AsyncStream.makeStream(of: CommandRules.Result.self)
  private let checks = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

  /// The signals that end this program, and those that the command alone gets.
  private static let ending = [SIGTERM, SIGINT, SIGHUP, SIGQUIT]
  private static let passed = [SIGUSR1, SIGUSR2, SIGWINCH]

  /// While there is a command: how often the daemon must answer, and this program must tell the service
  /// manager that it lives; and how long each may take.
  private static let interval = Duration.milliseconds(300)
  private static let patience = Duration.milliseconds(500)
  private static let watchdog = Duration.seconds(1)

  /// A command for the states of `client`. Its scope is made now.
  ///
  /// - Parameters:
  ///   - command: the program and its arguments; at least the program.
  ///   - grace: how long the command may take to end.
  ///   - isOnce: whether it runs a single time, after which ``run()`` returns.
  ///   - mayWait: whether to wait for a daemon, at the start and when it ends.
  ///   - session: see ``StatesFollower/init(_:session:)``.
  ///   - notify: receives what the user should know.
  ///   - explain: says why there is no daemon, and what the user can do.
  /// - Throws: if systemd cannot make a scope for the command.
  public init(
    _ command: [String], while conditions: StateConditions, of client: Client, grace: Duration,
    isOnce: Bool, mayWait: Bool = true, session: AsyncStream<SessionPresence>?,
    notify: @escaping (TerminalText) -> Void,
    explain: @escaping (ClientError) -> TerminalText = { $0.text }
  ) throws {
    (self.command, self.grace) = (command, grace)
    loop = try EventLoop()
    scope = try CommandScope(grace: grace)
    self.client = client
    self.conditions = conditions
    self.notify = notify
    self.explain = explain
    follower = StatesFollower(client, session: session, mayWait: mayWait)
    held = HeldConditions(conditions)
    machine = StateMachine(CommandRules(isOnce: isOnce))
    isChecked = conditions.keyboard.isEmpty
  }

  /// Runs the command whenever the conditions hold, until a signal, or the end of a command that
  /// runs once. Then the command and all its descendants have ended.
  ///
  /// - Throws: `UsageError` if the daemon lacks a state of the conditions, ``ClientError`` if waiting
  ///   would not help, and `SystemError` if a system call fails.
  public func run() async throws -> CommandRules.Result {
    let signals = try Signals(
      (Self.ending + [SIGTSTP]).filter { !Signals.isIgnored($0) } + Self.passed)
    let contained = try ContainedCommand(command, in: scope, grace: grace, on: loop) {
      [unowned self] outcome in
      if case .failed(let code) = outcome {
        notify("\(SystemError("run", command.first ?? "", code: code))")
      }
      take(.ended(outcome))
    }
    self.contained = contained
    try scope.watch(on: loop) { [unowned self] in fail($0) }
    defer {
      contained.close()
      scope.close()
    }
    ServiceManager.notify("READY=1")
    return try await withThrowingTaskGroup(of: CommandRules.Result?.self) { tasks in
      tasks.addTask { await self.follow() }
      tasks.addTask { await self.checkStates() }
      tasks.addTask { try await self.heed(signals) }
      tasks.addTask { try await self.serve() }
      tasks.addTask { await self.finished.stream.first { _ in true } }
      defer { tasks.cancelAll() }
      for try await case let result? in tasks {
        if let error { throw error }
        return result
      }
      return .error
    }
  }

  // MARK: - What happens

  private func follow() async -> CommandRules.Result? {
    do {
      try await follower.run { [self] in take($0) }
    } catch {
      fail(error)
    }
    return nil
  }

  private func take(_ occurrence: Occurrence) {
    tell(occurrence)
    let event = held.take(occurrence)
    if isChecked {
      if let event { take(event) }
    } else if case .states = occurrence {
      checks.continuation.yield()
    }
  }

  /// Says once why the command has to wait, if it has from the start.
  private func tell(_ occurrence: Occurrence) {
    defer { hasTold = true }
    guard !hasTold, case .unknown(let reason) = occurrence else { return }
    let text = if case .noDaemon(let error) = reason { explain(error) } else { reason.text }
    let isLocked = reason == .sessionNotInFront(.locked)
    notify("\(text);\n\(isLocked ? "the command starts once it is unlocked" : "waiting for it")")
  }

  /// Asks the daemon whether it has the states of the conditions: no other can ever hold.
  private func checkStates() async -> CommandRules.Result? {
    for await _ in checks.stream where !isChecked {
      guard let machines = await machines() else { continue }
      do {
        try conditions.check(machines)
        isChecked = true
        if let entering = held.entering { take(.entered(entering)) }
      } catch {
        fail(error)
      }
    }
    return nil
  }

  /// The daemon's machines; `nil` if they have to be asked for again later.
  private func machines() async -> [MachineMessage]? {
    do throws(ClientError) {
      return try await client.machines()
    } catch {
      switch error {
      // A daemon that goes meanwhile is asked when it is back.
      case .noDaemon, .connectionLost, .cancelled: break
      case .permissionDenied, .noAnswer, .badReply, .refused, .failed:
        notify("\(error);\ntrying again")
        let later = ContinuousClock.now.advanced(by: .seconds(5))
        _ = try? await Poller.shared.wait(toRead: -1, until: later)
        checks.continuation.yield()
      }
      return nil
    }
  }

  private func serve() async throws -> CommandRules.Result? {
    try await loop.serve()
    return nil
  }

  private func heed(_ signals: Signals) async throws -> CommandRules.Result? {
    while try await Poller.shared.wait(toRead: signals.descriptor) == .ready {
      while let signal = signals.next() {
        if signal == SIGTSTP {
          isToStop = true
          take(.left)
          stopIfWanted()
        } else if !Self.ending.contains(signal) {
          contained?.pass(signal)
        } else if !take(.quit(.signal(signal))) {
          contained?.end(by: signal)
        }
      }
    }
    return nil
  }

  private func fail(_ error: any Error) {
    if self.error == nil { self.error = error }
    take(.quit(.error))
  }

  // MARK: - What follows

  /// Takes an event, and returns whether it made a difference.
  @discardableResult
  private func take(_ event: CommandRules.Event) -> Bool {
    guard let transition = machine.take(event) else { return false }
    if machine.state == .waiting { endWatches() }
    switch machine.rules.action(from: transition.from, to: transition.to) {
    case .start(let entering):
      beginWatches()
      contained?.start(adding: entering.variables)
    case .end(let signal): contained?.end(by: signal)
    case .finish(let result): finished.continuation.yield(result)
    case nil: break
    }
    stopIfWanted()
    return true
  }

  /// Stops this program once no command runs: a stopped one could not end it.
  private func stopIfWanted() {
    guard isToStop, machine.state == .waiting else { return }
    isToStop = false
    raise(SIGSTOP)
  }

  // MARK: - What hangs

  private func endWatches() {
    guard !watches.isEmpty else { return }
    for watch in watches { watch.cancel() }
    watches = []
    ServiceManager.notify("WATCHDOG_USEC=0")
  }

  /// While there is a command, ends it if the daemon does not answer, and has the service manager kill
  /// this program, where it is a service with a watchdog, if it does nothing. An idle program is never
  /// woken. Each start begins anew: the daemon may have been silent in the last run.
  private func beginWatches() {
    for watch in watches { watch.cancel() }
    ServiceManager.notify("WATCHDOG_USEC=\(Self.watchdog.wholeMicroseconds)")
    watches = [
      Task {
        if await client.waitForSilence(askingEvery: Self.interval, patience: Self.patience) {
          take(.left)
        }
      },
      Task {
        while !Task.isCancelled {
          ServiceManager.notify("WATCHDOG=1")
          let next = ContinuousClock.now.advanced(by: Self.interval)
          _ = try? await Poller.shared.wait(toRead: -1, until: next)
        }
      },
    ]
  }
}
