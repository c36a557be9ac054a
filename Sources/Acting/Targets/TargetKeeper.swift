import Glibc
public import KeyboardModes
import KeymodeClient
import Linux
public import Terminal

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
/// Whenever something changed, the service manager is asked what is active and under way, and gets
/// the orders that lead from there to what is wanted. A target is started once all others of its
/// machine have stopped, so no two are active at once, and the target of a state that ends
/// meanwhile is never started. Each order is given once: a target that cannot be started, or that
/// another program stopped, is left alone until its state is entered again.
public final class TargetKeeper {
  /// How long the targets outlast the daemon.
  private static let patience = Duration.seconds(1)

  private let run: Run<Int32>
  private let machines: [Machine]
  private let tell: (TerminalText) -> Void
  private var manager: SystemdManager?
  private var delays = RetryDelays.usual
  /// The next attempt to connect to the manager.
  private var attempt: EventSource?
  /// Whether something changed since the manager was asked what is active.
  private var isChanged = false

  /// `nil` before it is known which targets should be active.
  private var wanted: [Machine: TargetUnit]?
  /// The targets that were active, or ordered to start, since they became wanted.
  private var started: Set<TargetUnit> = []
  /// Those that were ordered to stop, and are not inactive yet.
  private var stopped: Set<TargetUnit> = []
  /// The orders that are being carried out, by the paths of their jobs.
  private var jobs: [String: TargetOrder] = [:]
  /// The failures that the user knows of; success makes the next failure news.
  private var told: Set<TargetOrder> = []
  private var isInformed = false
  private var isReadyTold = false
  /// Runs while the daemon is away, and its targets outlast it.
  private var absence: EventSource?
  /// How this program ends, once no target is active.
  private var ending: Result<Int32, any Error>?

  /// Connects to the user's service manager.
  ///
  /// - Parameters:
  ///   - machines: the machines whose states have targets. Active targets of others are stopped.
  ///   - tell: tells the user of something that did not work.
  /// - Throws: ``SystemError`` if there is no user manager.
  public init(
    of machines: [Machine], tell: @escaping (TerminalText) -> Void
  ) throws(SystemError) {
    run = try Run()
    (self.machines, self.tell) = (machines, tell)
    try connect()
  }

  /// Keeps the targets of the daemon that serves in `directory` until a signal ends that, and then
  /// stops them.
  ///
  /// - Parameter anySession: whether not to look at sessions.
  /// - Returns: the signal.
  /// - Throws: ``ClientError`` if waiting for the daemon would not help, and ``SystemError``.
  public func keep(_ directory: String, anySession: Bool) throws -> Int32 {
    let signals = try run.loop.addSignals([SIGHUP, SIGINT, SIGTERM]) { [self] number in
      finish(.success(number))
    }
    let follower = try StatesFollower(
      directory, of: Set(machines), on: run.loop, anySession: anySession
    ) { [self] occurrence in
      switch occurrence {
      case .success(let occurrence): take(occurrence)
      case .failure(let error): finish(.failure(error))
      }
    }
    return try run.untilEnd(keeping: signals, follower)
  }

  // MARK: - What should be active

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
      guard absence == nil else { return }
      run.perform {
        absence = try run.loop.call(after: Self.patience) { [self] in want { _ in nil } }
      }
      settle()
    }
  }

  /// Says in the status of the service why no target is active, and the first time in its log.
  private func status(_ reason: TerminalText) {
    ServiceManager.notify("STATUS=\(reason)")
    if !isInformed, reason != "" { tell("\(reason); no target is active until that changes") }
    isInformed = true
  }

  /// Wants no target any more, whatever comes.
  private func finish(_ ending: Result<Int32, any Error>) {
    self.ending = self.ending ?? ending
    want { _ in nil }
    endIfSettled()
  }

  private func want(_ state: (Machine) -> String?) {
    absence = nil
    var wanted: [Machine: TargetUnit] = [:]
    for machine in machines where ending == nil {
      wanted[machine] = state(machine).map { TargetUnit(machine: machine, state: $0) }
    }
    // What is entered anew may be started again.
    for (machine, unit) in wanted where self.wanted?[machine] != unit { started.remove(unit) }
    self.wanted = wanted
    settle()
  }

  // MARK: - What is active

  /// Asks what is active, and orders what leads from there to what is wanted; later, if the manager
  /// has not answered everything yet.
  private func settle() {
    isChanged = true
    guard let manager, !manager.isLost, manager.unanswered == 0 else { return }
    isChanged = false
    let patterns = Machine.allCases.map { BusValue.string(TargetUnit.pattern(of: $0)) }
    manager.call(
      "ListUnitsByPatterns", [.array(of: "s", []), .array(of: "s", patterns)]
    ) { [self] result in
      switch result {
      case .success(let values):
        let units = (values.first?.elements ?? []).compactMap(TargetUnit.listed)
        order(from: Dictionary(units) { $1 }, by: manager)
      // A manager that does not answer is as good as none.
      case .failure: manager.lose()
      }
      goOn()
    }
  }

  /// The manager has answered something.
  private func goOn() {
    if isChanged { settle() }
    endIfSettled()
  }

  /// Orders what leads from the listed targets to those that are wanted, as far as it can be
  /// ordered now.
  private func order(from listed: [TargetUnit: TargetStatus], by manager: SystemdManager) {
    // Jobs may still be under way: a target waits for the units that it wants, and those may wait
    // for this program's own unit.
    if isInformed, !isReadyTold {
      isReadyTold = true
      ServiceManager.notify("READY=1")
    }
    guard let wanted else { return }
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
          give(TargetOrder(verb: .stop, unit: other), to: manager)
          isClear = false
        } else if status == .starting || status == .stopping {
          isClear = false
        }
      }
      guard let unit else { continue }
      if listed[unit] == .active { started.insert(unit) }
      guard isClear, listed[unit] == nil else { continue }
      if started.insert(unit).inserted {
        give(TargetOrder(verb: .start, unit: unit), to: manager)
      }
    }
  }

  private func give(_ order: TargetOrder, to manager: SystemdManager) {
    manager.call(
      order.verb.rawValue, [.string(order.unit.name), .string("replace")]
    ) { [self, weak manager] result in
      switch result {
      // At once, because the next message may be of the job's end.
      case .success(let values): if let job = values.first?.text { jobs[job] = order }
      case .failure(let error):
        let isUnknown = error.name == "org.freedesktop.systemd1.NoSuchUnit"
        if manager?.isLost == false, order.verb == .start || !isUnknown {
          tell(order, error.text)
        }
        isChanged = true
      }
      goOn()
    }
  }

  private func end(_ end: SystemdManager.JobEnd) {
    guard TargetUnit(name: end.unit) != nil else { return }
    if let order = jobs.removeValue(forKey: end.job) {
      let isWanted = wanted?[order.unit.machine] == order.unit
      if end.result == "done" {
        told.remove(order)
      } else if isWanted == (order.verb == .start) {
        tell(order, "its job ended with '\(end.result)'")
      }
    }
    settle()
  }

  private func tell(_ order: TargetOrder, _ reason: TerminalText) {
    guard told.insert(order).inserted else { return }
    let verb: TerminalText = order.verb == .start ? "start" : "stop"
    tell("cannot \(verb) \(order.unit.name): \(reason)")
  }

  /// Ends this program, if it is to end and its last order is answered. A manager that is lost has no
  /// targets any more.
  private func endIfSettled() {
    guard let ending, let manager,
      manager.isLost || !isChanged && manager.unanswered == 0
    else { return }
    switch ending {
    case .success(let signal): run.end(signal)
    case .failure(let error): run.fail(error)
    }
  }

  // MARK: - The connection to the service manager

  private func connect() throws(SystemError) {
    // The connection is this object's own, and goes with it.
    manager = try SystemdManager(.userManager, on: run.loop) {
      [unowned self] in
      end($0)
    } lost: {
      [unowned self] in
      lose()
    }
    (started, stopped, jobs) = ([], [], [:])
  }

  /// The manager is gone. One that executes itself again is back at once.
  private func lose() {
    delays.begin()
    reconnectLater()
    endIfSettled()
  }

  private func reconnectLater() {
    run.perform { attempt = try run.loop.call(after: delays.next()) { [self] in reconnect() } }
  }

  private func reconnect() {
    do throws(SystemError) {
      try connect()
      settle()
    } catch {
      reconnectLater()
    }
  }
}
