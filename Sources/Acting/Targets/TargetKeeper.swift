import Glibc
import KeyboardModes
import KeymodeClient
public import SystemCalls
import Systemd

/// Keeps exactly the targets of the present states active in the user's service manager.
///
/// | what is known                | the targets                                                    |
/// | ---------------------------- | -------------------------------------------------------------- |
/// | nothing yet                  | as they are                                                    |
/// | the states                   | exactly those of the states                                    |
/// | the daemon is away           | as they are for one second, so that a restart of the daemon    |
/// |                              | stops nothing; then none                                       |
/// | the session is not in front  | none, at once                                                  |
/// | the program ends             | none, at once                                                  |
///
/// Whenever something changed, the service manager is asked what is active and under way, and gets the
/// orders that lead from there to what is wanted. A target is started once all others of its machine
/// have stopped, so no two are active at once, and what became wanted and unwanted meanwhile is never
/// started. Each order is given once: a target that cannot be started, or that another program stopped,
/// is left alone until its state is entered again.
@MainActor
public final class TargetKeeper {
  /// Thrown through the tasks of ``run()`` once there is nothing to do any more.
  private struct Finished: Error {}

  /// How long the targets outlast the daemon.
  private static let patience = Duration.seconds(1)
  private static let shortestDelay = Duration.milliseconds(10)
  private static let longestDelay = Duration.seconds(5)

  private let loop: EventLoop
  private let follower: StatesFollower
  private let machines: [Machine]
  private let signals: Signals
  private let tell: (TerminalText) -> Void
  private var sources: [EventSource] = []
  private var absence: EventSource?
  private var manager: UserManager?
  private let changes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

  /// `nil` before it is known which targets should be active.
  private var wanted: [Machine: TargetUnit]?
  /// The targets that were active, or ordered to start, since they became wanted.
  private var started: Set<TargetUnit> = []
  /// Those that were ordered to stop, and are not inactive yet.
  private var stopped: Set<TargetUnit> = []
  /// The orders that are being carried out, by the numbers of their jobs.
  private var jobs: [UInt32: TargetOrder] = [:]
  /// The failures that the user knows of; success makes the next failure news.
  private var told: Set<TargetOrder> = []
  private var unusable: Set<String> = []
  private var isInformed = false
  private var isReadyTold = false
  private var isAbsent = false
  /// The signal that ends this program, and what else ends it.
  private var signal: Int32?
  private var failure: (any Error)?
  private var isFinishing = false

  /// Connects to the user's service manager.
  ///
  /// - Parameters:
  ///   - withShift: whether the states of Shift have targets too. Those that are active otherwise are
  ///     stopped.
  ///   - tell: tells the user of something that did not work.
  /// - Throws: ``SystemError`` if there is no user manager.
  public init(
    following follower: StatesFollower, withShift: Bool,
    tell: @escaping (TerminalText) -> Void
  ) throws(SystemError) {
    loop = try EventLoop()
    (self.follower, self.tell) = (follower, tell)
    machines = withShift ? Machine.allCases : [.keyboard]
    signals = try Signals([SIGHUP, SIGINT, SIGTERM])
    sources = [
      try loop.addIO(signals.descriptor, .readable) { [unowned self] _ in
        while let number = signals.next() { signal = signal ?? number }
        finish()
      }
    ]
    absence = try loop.addTimer { [unowned self] in want { _ in nil } }
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
        tasks.addTask { await self.follow() }
        tasks.addTask { try await self.keep() }
        for try await _ in tasks {}
      }
    } catch is Finished {}
    if let failure { throw failure }
    return signal ?? SIGTERM
  }

  private func serve() async throws { try await loop.serve() }

  /// The loop notices what was added, set or sent outside of it once it is served again.
  private func rearm() {
    Task { try? loop.dispatchAll() }
  }

  // MARK: - What should be active

  private func follow() async {
    do {
      try await follower.run { self.take($0) }
    } catch {
      failure = error
      finish()
    }
  }

  private func take(_ occurrence: Occurrence) {
    switch occurrence {
    case .states(let states, _):
      status("")
      want { states[$0] }
    case .unknown(.sessionNotInFront(let reason)):
      status("\(reason)")
      want { _ in nil }
    case .unknown(.noDaemon):
      status("no keymoded runs")
      guard !isAbsent else { return }
      isAbsent = true
      absence?.set(after: Self.patience)
      rearm()
      changes.continuation.yield()
    }
  }

  /// Says in the status of the service why no target is active, and the first time in its log.
  private func status(_ reason: TerminalText) {
    ServiceManager.notify("STATUS=\(reason)")
    if !isInformed, reason != "" { tell("\(reason); no target is active until that changes") }
    isInformed = true
  }

  /// Wants no target any more, whatever comes.
  private func finish() {
    isFinishing = true
    want { _ in nil }
  }

  private func want(_ state: (Machine) -> String?) {
    absence?.disable()
    isAbsent = false
    let units = machines.compactMap { machine -> (Machine, TargetUnit)? in
      guard !isFinishing, let state = state(machine) else { return nil }
      if let unit = TargetUnit(machine, state) { return (machine, unit) }
      if unusable.insert(state).inserted {
        tell("no unit can have the name of the state '\(state)': it has no target")
      }
      return nil
    }
    let wanted = Dictionary(uniqueKeysWithValues: units)
    // What is entered anew may be started again.
    for (machine, unit) in wanted where self.wanted?[machine] != unit { started.remove(unit) }
    self.wanted = wanted
    changes.continuation.yield()
  }

  // MARK: - What is active

  /// Gives orders after each change.
  private func keep() async throws {
    for await _ in changes.stream {
      let manager = try await connection()
      do throws(BusError) {
        if let wanted { try await settle(wanted, by: manager) }
      } catch {
        // A manager that does not answer is as good as none.
        manager.lose()
      }
      if manager.isLost { changes.continuation.yield() }
      // Jobs may be under way still: a target starts once the units that it wants have started, which
      // may wait for the very unit that this program is.
      if isInformed, !isReadyTold, !manager.isLost {
        isReadyTold = true
        ServiceManager.notify("READY=1")
      }
      if isFinishing, wanted?.isEmpty == true, !manager.isLost { throw Finished() }
    }
  }

  /// Orders what leads to these targets, as far as it can be ordered now.
  private func settle(
    _ wanted: [Machine: TargetUnit], by manager: UserManager
  ) async throws(BusError) {
    rearm()
    let listed = try await manager.list()
    stopped.formIntersection(listed.keys)
    for machine in Machine.allCases {
      let unit = wanted[machine]
      let others = Set(listed.keys).union(started).filter { $0.machine == machine && $0 != unit }
      var isClear = true
      for other in others.sorted(by: { $0.state < $1.state }) {
        let status = listed[other]
        if status != .stopping, stopped.insert(other).inserted {
          // Also where its start failed: what it pulled in may run.
          started.remove(other)
          await order(TargetOrder(verb: .stop, unit: other), by: manager)
          isClear = false
        } else if status == .starting || status == .stopping {
          isClear = false
        }
      }
      guard let unit else { continue }
      if listed[unit] == .active { started.insert(unit) }
      guard isClear, listed[unit] == nil, self.wanted?[machine] == unit else { continue }
      if started.insert(unit).inserted {
        await order(TargetOrder(verb: .start, unit: unit), by: manager)
      }
    }
  }

  /// Gives an order, and waits until the manager has taken it.
  private func order(_ order: TargetOrder, by manager: UserManager) async {
    rearm()
    await withCheckedContinuation { continuation in
      manager.give(order) { [self] result in
        switch result {
        // At once, because the next message may be of the job's end.
        case .success(let job): jobs[job] = order
        case .failure(let error):
          if order.verb == .start || !error.isUnitUnknown { tell(order, error.text, by: manager) }
          changes.continuation.yield()
        }
        continuation.resume()
      }
    }
  }

  private func end(_ job: UInt32, _ result: String) {
    if let order = jobs.removeValue(forKey: job) {
      let isWanted = wanted?[order.unit.machine] == order.unit
      if result == "done" {
        told.remove(order)
      } else if isWanted == (order.verb == .start), let manager {
        tell(order, "its job ended with '\(result)'", by: manager)
      }
    }
    changes.continuation.yield()
  }

  private func tell(_ order: TargetOrder, _ reason: TerminalText, by manager: UserManager) {
    guard !manager.isLost, told.insert(order).inserted else { return }
    let verb: TerminalText = order.verb == .start ? "start" : "stop"
    tell("cannot \(verb) \(order.unit.name): \(reason)")
  }

  // MARK: - The connection to the service manager

  private func connect() throws(SystemError) {
    manager = try UserManager(
      on: loop, jobEnded: { [unowned self] job, result in end(job, result) },
      lost: { [unowned self] in changes.continuation.yield() })
    (started, stopped, jobs) = ([], [], [:])
  }

  /// The connection to the manager: a new one after a loss, at once to a manager that executes itself
  /// again, and to one that is started later as soon as its socket appears.
  private func connection() async throws -> UserManager {
    var delay = Self.shortestDelay
    while true {
      if let manager, !manager.isLost { return manager }
      // Without a manager no target is active.
      if isFinishing || Task.isCancelled { throw Finished() }
      manager = nil
      // The watch begins before the attempt, so that a socket created in between is noticed. The
      // time covers a manager that begins to listen on an existing socket.
      let watch = UserManager.socket.flatMap(SocketWatch.init)
      _ = try await Poller.shared.wait(toRead: -1, until: .now.advanced(by: delay))
      if (try? connect()) != nil { continue }
      delay = min(delay * 2, Self.longestDelay)
      let deadline = ContinuousClock.now.advanced(by: delay)
      if try await watch?.wait(until: deadline) == .ready { delay = Self.shortestDelay }
    }
  }
}
