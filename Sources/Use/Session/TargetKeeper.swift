import Glibc
public import KeyboardModes
import KeymodeClient
public import System
public import Terminal

/// Keeps the targets of the present states active in the user's service manager, such as
/// `keymode@keyboard:editingText.target`.
///
/// | what is known                | the targets                                                   |
/// | ---------------------------- | ------------------------------------------------------------- |
/// | nothing yet                  | as they are                                                   |
/// | the states                   | exactly the targets of the states                             |
/// | the daemon is away           | as they are for one second, so that a restart of the daemon   |
/// |                              | stops nothing; then none                                      |
/// | the session is not in front  | none, at once                                                 |
/// | the program ends             | none, at once                                                 |
///
/// At the start, and after the manager has reexecuted itself, the keeper asks the manager which
/// targets are active. Otherwise the keeper only orders starts and stops. A target is started once
/// all other targets of its machine have stopped, so no two are active at once. If the state ends
/// before that, its target is never started. A target that cannot be started, or that another
/// program has stopped or started, is left alone until its state is entered again.
public final class TargetKeeper {
  /// How long the targets outlast the daemon.
  private static let absenceTimeout = Duration.seconds(1)

  /// An order to the manager: to start a target, or to stop the target.
  private typealias Order = (target: String, isStart: Bool)

  private let mainLoop: MainLoop<Int32>
  private let hasTargets: (MachineName) -> Bool
  private let report: (TerminalText) -> Void
  private var manager: SystemdManager?
  /// The next attempt to connect to the manager.
  private var retryTimer: EventSource?

  /// The targets of the present states; `nil` before these are known.
  private var wanted: [MachineName: String]?
  /// The targets that are active, or ordered to start; `nil` before the manager has answered.
  private var active: Set<String>?
  /// The targets that are ordered to stop, and still active.
  private var stopping: Set<String> = []
  /// The orders that are being carried out, by the paths of their jobs.
  private var jobs: [String: Order] = [:]
  /// Whether the status of the service was shown: only the first status is also logged.
  private var hasStatus = false
  private var isReady = false
  /// The timer that runs while the daemon is away and the targets outlast it.
  private var absenceTimer: EventSource?
  /// The outcome of this program. It ends once the manager has answered every order.
  private var ending: Result<Int32, any Error>?

  /// Keeps the targets of some machines. Active targets of other machines are stopped.
  ///
  /// - Parameters:
  ///   - hasTargets: whether a machine's targets are kept. A new configuration may add machines.
  ///   - report: receives the messages for the user.
  public init(
    of hasTargets: @escaping (MachineName) -> Bool, report: @escaping (TerminalText) -> Void
  ) throws(SystemError) {
    mainLoop = try MainLoop()
    (self.hasTargets, self.report) = (hasTargets, report)
  }

  /// Keeps the targets of the daemon that serves in `directory` until a signal comes, and then
  /// stops them.
  ///
  /// - Parameter anySession: whether states count even if the user's session is not in front.
  /// - Returns: the signal.
  /// - Throws: ``ClientError`` if waiting for the daemon would not help, and ``SystemError`` if
  ///   there is no user manager at the start.
  public func keep(_ directory: String, anySession: Bool) throws -> Int32 {
    try connect()
    let signals = try mainLoop.loop.addSignals([SIGHUP, SIGINT, SIGTERM]) { [self] number in
      finish(.success(number))
    }
    let follower = try StatesFollower(
      directory, on: mainLoop.loop, anySession: anySession
    ) { [self] update in
      switch update {
      case .success(let update): handle(update)
      case .failure(let error): finish(.failure(error))
      }
    }
    return try mainLoop.runUntilEnd(keeping: signals, follower)
  }

  // MARK: - What should be active

  private func handle(_ update: StatesUpdate) {
    switch update {
    case .states(let states, _):
      show("")
      want(states)
    case .unknown(.sessionNotInFront(let reason)):
      show("\(reason)")
      want(nil)
    case .unknown(.noDaemon(let error)):
      if case .permissionDenied = error { show("\(error)") } else { show("no keymoded runs") }
      guard absenceTimer == nil else { return }
      mainLoop.perform {
        absenceTimer = try mainLoop.loop.call(after: Self.absenceTimeout) { [self] in want(nil) }
      }
    }
  }

  /// Shows why no target is active: in the status of the service and, at the start, in its log too.
  private func show(_ reason: TerminalText) {
    ServiceManager.showStatus(reason.description)
    if !hasStatus, reason != "" { report("\(reason); no target is active until that changes") }
    hasStatus = true
  }

  /// Ends this program once the manager has answered the orders to stop all targets.
  private func finish(_ ending: Result<Int32, any Error>) {
    self.ending = self.ending ?? ending
    want(nil)
    endIfAnswered()
  }

  /// Wants the targets of these states; `nil` for none.
  private func want(_ states: EffectiveStates?) {
    absenceTimer = nil
    var wanted: [MachineName: String] = [:]
    for machine in states?.states.machines ?? [] where ending == nil {
      guard hasTargets(machine) else { continue }
      wanted[machine] = states?[machine].map { Self.target(of: machine, $0) }
    }
    self.wanted = wanted
    giveOrders()
  }

  /// The target of this state. Its name needs no escaping: names of machines and states have only
  /// letters, digits, `-` and `_`.
  private static func target(of machine: MachineName, _ state: String) -> String {
    "\(prefix(of: machine))\(state).target"
  }

  private static func prefix(of machine: MachineName) -> String { "keymode@\(machine):" }

  // MARK: - What is active

  /// Orders the starts and stops that make exactly the wanted targets active. A start waits until
  /// the other targets of its machine have stopped.
  private func giveOrders() {
    guard let wanted, let active else { return }
    // Ready before the jobs have ended: a target waits for the units that it wants, and these units
    // may wait until this program is ready.
    if !isReady { ServiceManager.notify("READY=1") }
    isReady = true
    for target in active.subtracting(wanted.values) { stop(target) }
    for (machine, target) in wanted where !active.contains(target) {
      guard !stopping.contains(where: { $0.hasPrefix(Self.prefix(of: machine)) }) else { continue }
      self.active?.insert(target)
      give((target, isStart: true))
    }
  }

  private func stop(_ target: String) {
    active?.remove(target)
    stopping.insert(target)
    give((target, isStart: false))
  }

  private func give(_ order: Order) {
    let method = order.isStart ? "StartUnit" : "StopUnit"
    manager?.call(method, [.string(order.target), .string("replace")]) { [self] result in
      switch result {
      // Noted now: the next message may report the end of the job.
      case .success(let values): if let job = values.first?.text { jobs[job] = order }
      case .failure(let error):
        // A target that is not loaded is not active.
        let isDone = !order.isStart && error.name == "org.freedesktop.systemd1.NoSuchUnit"
        noteEnd(of: order, failure: isDone ? nil : "\(error)")
      }
      endIfAnswered()
    }
  }

  private func noteEnd(of order: Order, failure: TerminalText?) {
    let isWanted = wanted?.values.contains(order.target) ?? false
    if let failure, isWanted == order.isStart {
      report("cannot \(order.isStart ? "start" : "stop") \(order.target): \(failure)")
    }
    guard !order.isStart else { return }
    stopping.remove(order.target)
    giveOrders()
  }

  /// Ends this program, if it is to end and its last order is answered.
  private func endIfAnswered() {
    if let ending, manager?.unanswered == 0 { mainLoop.end(with: ending) }
  }

  /// Connects to the manager, and asks it which targets are active.
  private func connect() throws(SystemError) {
    let manager = try SystemdManager(.userManager, on: mainLoop.loop) { [self] job in
      guard let order = jobs.removeValue(forKey: job.job) else { return }
      noteEnd(of: order, failure: job.result == "done" ? nil : "its job ended with '\(job.result)'")
    } lost: { [self] in
      reconnect()
    }
    self.manager = manager
    let patterns = [BusValue.string("keymode@*.target")]
    manager.call(
      "ListUnitsByPatterns", [.array(of: "s", []), .array(of: "s", patterns)]
    ) { [self] result in
      switch result {
      case .success(let values):
        let targets = (values.first?.elements ?? []).compactMap(listedTarget)
        active = Set(targets.map(\.name))
        // Stops them once more, because only the ends of our own jobs are noticed.
        for target in targets where target.isStopping { stop(target.name) }
        giveOrders()
      // A manager that does not answer is treated like one that has closed the connection.
      case .failure: reconnect()
      }
      endIfAnswered()
    }
  }

  /// Connects again soon: a manager that reexecutes itself has closed the connection.
  private func reconnect() {
    (active, stopping, jobs) = (nil, [], [:])
    mainLoop.perform {
      retryTimer = try mainLoop.loop.call(after: .milliseconds(500)) { [self] in
        do throws(SystemError) { try connect() } catch { reconnect() }
      }
    }
  }
}

/// A unit in an answer of `ListUnitsByPatterns`, if it is active or about to be.
private func listedTarget(_ unit: BusValue) -> (name: String, isStopping: Bool)? {
  guard let values = unit.elements, values.count == 10, let name = values[0].text,
    let state = values[3].text, let job = values[8].text
  else { return nil }
  return job == "start" || state == "active" ? (name, job == "stop") : nil
}
