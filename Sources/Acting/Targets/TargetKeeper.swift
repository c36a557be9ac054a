import Glibc
import KeyboardModes
import KeymodeClient
public import SystemCalls
import Systemd

/// Keeps exactly the targets of the present states active in the user's service manager.
///
/// ``TargetPlan`` decides; this performs. Everything happens in the loop, which ``run()`` serves.
@MainActor
public final class TargetKeeper {
  /// Thrown through the tasks of ``run()`` once there is nothing to do any more.
  private struct Finished: Error {}

  private let loop: EventLoop
  private let follower: StatesFollower
  private let signals: Signals
  private let tell: (TerminalText) -> Void
  private var plan: TargetPlan
  private var manager: UserManager?
  private var sources: [EventSource] = []
  private var timer: EventSource?
  private let losses = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  /// How long to wait before the next attempt to connect again.
  private var retryDelay = TargetKeeper.shortestDelay
  private var isReadyTold = false
  private var isInformed = false
  /// The signal that ends this program.
  private var signal: Int32?
  /// What else ends it.
  private var failure: (any Error)?

  /// Connects to the user's service manager.
  ///
  /// - Parameters:
  ///   - withShift: whether the states of Shift have targets too.
  ///   - tell: tells the user of something that did not work.
  /// - Throws: ``SystemError`` if there is no user manager.
  public init(
    following follower: StatesFollower, withShift: Bool,
    tell: @escaping (TerminalText) -> Void
  ) throws(SystemError) {
    loop = try EventLoop()
    (self.follower, self.tell) = (follower, tell)
    plan = TargetPlan(withShift ? Machine.allCases : [.keyboard])
    signals = try Signals([SIGHUP, SIGINT, SIGTERM])
    let caught = try loop.addIO(signals.descriptor, .readable) { [unowned self] _ in finish() }
    let due = try loop.addTimer { [unowned self] in
      plan.reach(Time(microseconds: microsecondsSinceBoot()))
    }
    sources = [caught, due]
    timer = due
    try connect()
  }

  /// Keeps the targets until a signal ends that, and then stops them.
  ///
  /// - Returns: the signal.
  /// - Throws: ``ClientError`` if waiting for the daemon would not help, and ``SystemError``.
  public func run() async throws -> Int32 {
    do {
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask { try await self.serve() }
        tasks.addTask { try await self.follow() }
        tasks.addTask { try await self.reconnect() }
        for try await _ in tasks {}
      }
    } catch is Finished {}
    if let failure { throw failure }
    return signal ?? SIGTERM
  }

  private func serve() async throws {
    while true {
      try advance()
      _ = try await Poller.shared.wait(toRead: loop.descriptor)
      if Task.isCancelled { return }
    }
  }

  private func follow() async throws {
    do {
      try await follower.run { occurrence in
        self.take(occurrence)
        try self.advance()
      }
    } catch let error as ClientError {
      failure = error
      plan.finish()
      try advance()
    }
  }

  private func take(_ occurrence: Occurrence) {
    plan.take(occurrence, at: Time(microseconds: microsecondsSinceBoot()))
    switch occurrence {
    case .states: status("")
    case .unknown(.noDaemon): status("no keymoded runs")
    case .unknown(.sessionNotInFront(let reason)): status("\(reason)")
    }
  }

  /// Says in the status of the service why no target is active, and the first time in its log.
  private func status(_ reason: TerminalText) {
    ServiceManager.notify("STATUS=\(reason)")
    if !isInformed, reason != "" { tell("\(reason); no target is active until that changes") }
    isInformed = true
  }

  private func finish() {
    while let number = signals.next() { signal = signal ?? number }
    plan.finish()
  }

  // MARK: - The connection to the service manager

  private static let shortestDelay = Duration.milliseconds(10)
  private static let longestDelay = Duration.seconds(5)

  private func connect() throws(SystemError) {
    manager = try UserManager(on: loop) { [unowned self] job, unit, result in
      plan.end(job: job, of: unit, result)
    }
    list { keeper, list in
      keeper.plan.connect(list)
      keeper.retryDelay = Self.shortestDelay
    }
  }

  /// Connects again after each loss: at once to a manager that executes itself again, and to one that
  /// is started later as soon as its socket appears.
  private func reconnect() async throws {
    for await _ in losses.stream {
      _ = try await Poller.shared.wait(toRead: -1, until: .now.advanced(by: retryDelay))
      while !Task.isCancelled {
        // The watch begins before the attempt, so that a socket created in between is noticed. The
        // time covers a manager that begins to listen on an existing socket.
        let watch = UserManager.socket.flatMap(SocketWatch.init)
        retryDelay = min(retryDelay * 2, Self.longestDelay)
        if (try? connect()) != nil { break }
        let deadline = ContinuousClock.now.advanced(by: retryDelay)
        if try await watch?.wait(until: deadline) == .ready { retryDelay = Self.shortestDelay }
        // The manager binds the socket before it listens.
        let settled = ContinuousClock.now.advanced(
          by: watch == nil ? retryDelay : Self.shortestDelay)
        _ = try await Poller.shared.wait(toRead: -1, until: settled)
      }
      try advance()
    }
  }

  // MARK: - Performing the plan

  /// Runs what is ready in the loop, and then the plan, until nothing is left to do now. To be called
  /// after everything that changes the plan or the loop, but not from the loop.
  private func advance() throws {
    var isBusy = true
    while isBusy {
      // Before the loop runs, because that arms the timer.
      setTimer()
      try loop.dispatchAll()
      if manager?.isLost == true {
        manager = nil
        plan.disconnect()
        losses.continuation.yield()
      }
      isBusy = false
      while let action = plan.nextAction() {
        perform(action)
        isBusy = true
      }
    }
    if plan.isReady, !isReadyTold {
      isReadyTold = true
      ServiceManager.notify("READY=1")
    }
    if plan.isFinished { throw Finished() }
  }

  private func perform(_ action: TargetPlan.Action) {
    switch action {
    case .tell(let message): tell(message)
    case .list: list { $0.plan.correct($1) }
    case .order(let order):
      guard let manager else { return }
      manager.give(order) { [weak self, weak manager] result in
        // An answer that comes because the connection is lost means nothing.
        guard let self, let manager, !manager.isLost, manager === self.manager else { return }
        switch result {
        case .success(let job): plan.accept(order, job: job)
        case .failure(let error):
          plan.refuse(order, error.text, isUnknown: error.isUnitUnknown)
        }
      }
    }
  }

  /// Asks for the targets. A manager that does not answer that is as good as none.
  private func list(_ add: @escaping (TargetKeeper, [ListedTarget]) -> Void) {
    guard let manager else { return }
    manager.list { [weak self, weak manager] result in
      guard let self, let manager, manager === self.manager else { return }
      switch result {
      case .success(let list): add(self, list)
      case .failure: manager.lose()
      }
    }
  }

  private func setTimer() {
    if let deadline = plan.deadline {
      timer?.set(at: UInt64(clamping: deadline.microseconds))
    } else {
      timer?.disable()
    }
  }
}
