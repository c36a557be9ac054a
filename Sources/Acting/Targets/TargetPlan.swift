import KeyboardModes
import SystemCalls

/// Decides which targets to start and to stop, so that exactly those of the present states are
/// active. It has no clock and no connection: what happens goes in, and ``nextAction()`` comes out.
///
/// | what is known                     | the targets                                          |
/// | --------------------------------- | ---------------------------------------------------- |
/// | nothing yet                       | as they are                                          |
/// | the states                        | exactly those of the states                          |
/// | the daemon is away                | as they are for one second, so that a restart of the |
/// |                                   | daemon stops nothing; then none                      |
/// | the session is not in front       | none, at once                                        |
/// | the program ends                  | none, at once                                        |
struct TargetPlan {
  /// What to do next.
  enum Action: Hashable {
    /// Have the service manager carry out this order.
    case order(TargetOrder)
    /// List all targets, because another program started or stopped some.
    case list
    /// Tell the user.
    case tell(TerminalText)
  }

  /// How long the targets outlast the daemon, in microseconds.
  static let patience: Int64 = 1_000_000

  /// When ``reach(_:)`` has something to do; `nil`: never.
  private(set) var deadline: Time?

  private let machines: [Machine]
  private var lanes = Dictionary(uniqueKeysWithValues: Machine.allCases.map { ($0, TargetLane()) })
  /// Whether it is known which targets should be active.
  private var isDecided = false
  /// Whether anything was said of the states.
  private var isInformed = false
  /// Whether the service manager has listed its targets.
  private var isConnected = false
  private var isFinishing = false
  private var mustList = false
  private var messages: [TerminalText] = []
  /// The failures that the user knows of; success makes the next failure news.
  private var told: Set<TargetOrder> = []
  private var unusable: Set<String> = []

  /// - Parameter machines: those whose states have targets. Targets of the others are stopped where
  ///   they are active at the start.
  init(_ machines: [Machine]) { self.machines = machines }

  // MARK: - What should be active

  /// Takes what became known of the states at `now`.
  mutating func take(_ occurrence: Occurrence, at now: Time) {
    guard !isFinishing else { return }
    isInformed = true
    switch occurrence {
    case .states(let states, _):
      decide { states[$0] }
    case .unknown(.sessionNotInFront):
      decide { _ in nil }
    case .unknown(.noDaemon):
      if deadline == nil { deadline = Time(microseconds: now.microseconds + Self.patience) }
    }
  }

  /// Takes that it is `now`.
  mutating func reach(_ now: Time) {
    if let deadline, deadline <= now { decide { _ in nil } }
  }

  /// Wants no target any more, whatever comes.
  mutating func finish() {
    isFinishing = true
    decide { _ in nil }
  }

  private mutating func decide(_ state: (Machine) -> String?) {
    isDecided = true
    deadline = nil
    for machine in Machine.allCases {
      let state = machines.contains(machine) ? state(machine) : nil
      let unit = state.flatMap { target(machine, $0) }
      lanes[machine]?.want(unit)
    }
  }

  private mutating func target(_ machine: Machine, _ state: String) -> TargetUnit? {
    if let unit = TargetUnit(machine, state) { return unit }
    if unusable.insert(state).inserted {
      messages.append("no unit can have the name of the state '\(state)': it has no target")
    }
    return nil
  }

  // MARK: - What to do

  /// The next thing to do, which counts as begun from now on; `nil` if there is nothing at the moment.
  mutating func nextAction() -> Action? {
    if !messages.isEmpty { return .tell(messages.removeFirst()) }
    guard isConnected, isDecided else { return nil }
    if mustList {
      mustList = false
      return .list
    }
    for machine in Machine.allCases {
      if let order = lanes[machine]?.nextOrder() { return .order(order) }
    }
    return nil
  }

  /// Whether the service manager knows of everything that is to be done, or nothing is to be done
  /// before the daemon comes or goes for good.
  ///
  /// Jobs may be under way still: a target starts once the units that it wants have started, which
  /// may wait for the very unit that this program is.
  var isReady: Bool {
    isConnected && isInformed && (!isDecided || lanes.values.allSatisfy(\.isOrdered))
  }

  /// Whether this program has nothing to do any more: all targets are being stopped, as far as there
  /// is a service manager.
  var isFinished: Bool { isFinishing && (!isConnected || lanes.values.allSatisfy(\.isOrdered)) }

  /// Whether exactly the targets that should be active are, except those that failed.
  var isAtRest: Bool {
    isConnected && isDecided && !mustList && lanes.values.allSatisfy(\.isAtRest)
  }

  // MARK: - What the service manager says

  /// A new connection to the service manager lists these targets, and those of its jobs.
  mutating func connect(_ list: [ListedTarget]) {
    isConnected = true
    mustList = false
    for machine in Machine.allCases {
      lanes[machine]?.begin(list.filter { $0.unit.machine == machine })
    }
  }

  /// The connection is lost, and with it the answers to come.
  mutating func disconnect() { isConnected = false }

  /// The service manager answers ``Action/list``.
  mutating func correct(_ list: [ListedTarget]) {
    for machine in machines {
      lanes[machine]?.correct(list.filter { $0.unit.machine == machine })
    }
  }

  /// The service manager carries out an order with this job.
  mutating func accept(_ order: TargetOrder, job: UInt32) {
    if let outcome = lanes[order.unit.machine]?.accept(order, job: job) { take(outcome) }
  }

  /// The service manager does not carry out an order.
  ///
  /// - Parameters:
  ///   - reason: what it says.
  ///   - isUnknown: whether it says that there is no such unit.
  mutating func refuse(_ order: TargetOrder, _ reason: TerminalText, isUnknown: Bool) {
    lanes[order.unit.machine]?.refuse(order, isUnknown: isUnknown)
    if order.verb == .start || !isUnknown { tell(order, reason) }
  }

  /// A job of a target has ended with this result.
  mutating func end(job: UInt32, of unit: TargetUnit, _ result: String) {
    guard let outcome = lanes[unit.machine]?.end(job: job, of: unit, result) else { return }
    if case .unexpected = outcome, !machines.contains(unit.machine) { return }
    take(outcome)
  }

  private mutating func take(_ outcome: TargetLane.Outcome) {
    switch outcome {
    case .expected: break
    case .done(let order): told.remove(order)
    case .failed(let order, let result): tell(order, "its job ended with '\(result)'")
    case .unexpected: mustList = true
    }
  }

  private mutating func tell(_ order: TargetOrder, _ reason: TerminalText) {
    guard told.insert(order).inserted else { return }
    let verb: TerminalText = order.verb == .start ? "start" : "stop"
    messages.append("cannot \(verb) \(order.unit.name): \(reason)")
  }
}
