/// The targets of one machine: which one is wanted, which are active, and what to order next.
///
///     wanted A          wanted B                          wanted C
///     A active          stop A ── A ended ── start B …    stop B ── B ended ── start C
///
/// A target is started only once all others have stopped, so no two are active at once, and what
/// became wanted and unwanted meanwhile is never started. A start that is under way for a target
/// that is no longer wanted is replaced by its stop at once: a target is started only when the units
/// that it wants are, which can take long. A stop is never replaced by a start, because the units
/// that are part of the target may have stopped already.
struct TargetLane {
  /// What is known of a target that is not inactive.
  private enum Status {
    case active
    /// Its start failed. What it pulled in may run, so it is stopped like an active one.
    case failed
    /// The service manager has not answered the order. `ended` has the jobs that ended meanwhile:
    /// one of them may be the order's own.
    case asked(TargetOrder.Verb, ended: [UInt32: String])
    /// This job carries out an order.
    case changing(TargetOrder.Verb, job: UInt32)
  }

  /// What the end of a job means.
  enum Outcome: Hashable {
    /// The order was carried out.
    case done(TargetOrder)
    /// The job belongs to an older order, or its order is not answered yet.
    case expected
    /// The order failed, with this result of its job. It is not repeated.
    case failed(TargetOrder, String)
    /// Another program started or stopped the target: the targets have to be listed again.
    case unexpected
  }

  private(set) var wanted: TargetUnit?
  private var targets: [TargetUnit: Status] = [:]
  /// The orders that failed, or that another program reversed. None is repeated before the target
  /// becomes wanted, or unwanted, the next time.
  private var heldBack: Set<TargetOrder> = []

  /// Wants this target to be active, and no other; `nil`: none.
  mutating func want(_ unit: TargetUnit?) {
    guard unit != wanted else { return }
    if let wanted { heldBack.remove(TargetOrder(verb: .start, unit: wanted)) }
    if let unit { heldBack.remove(TargetOrder(verb: .stop, unit: unit)) }
    wanted = unit
  }

  /// The next order, which counts as asked from now on; `nil` if there is none at the moment.
  mutating func nextOrder() -> TargetOrder? {
    guard let order = dueOrder else { return nil }
    targets[order.unit] = .asked(order.verb, ended: [:])
    return order
  }

  private var dueOrder: TargetOrder? {
    let others = targets.filter { $0.key != wanted && !isLeftAlone($0.key, $0.value) }
    let due = others.filter { mayStop($0.value) }.keys.min { $0.state < $1.state }
    if let due { return TargetOrder(verb: .stop, unit: due) }
    guard others.isEmpty, let wanted, targets[wanted] == nil else { return nil }
    let start = TargetOrder(verb: .start, unit: wanted)
    return heldBack.contains(start) ? nil : start
  }

  /// Whether an unwanted target stays active because it could not be stopped.
  private func isLeftAlone(_ unit: TargetUnit, _ status: Status) -> Bool {
    switch status {
    case .active, .failed: heldBack.contains(TargetOrder(verb: .stop, unit: unit))
    case .asked, .changing: false
    }
  }

  private func mayStop(_ status: Status) -> Bool {
    switch status {
    case .active, .failed, .changing(.start, _): true
    // The number of the job that the stop replaces is not known yet, or it is stopping already.
    case .asked, .changing(.stop, _): false
    }
  }

  /// Whether every order was answered, and there is none to give.
  var isOrdered: Bool {
    dueOrder == nil && !targets.values.contains { if case .asked = $0 { true } else { false } }
  }

  /// Whether exactly the wanted target is active, except for orders that failed.
  var isAtRest: Bool {
    dueOrder == nil
      && targets.values.allSatisfy {
        switch $0 {
        case .active, .failed: true
        case .asked, .changing: false
        }
      }
  }

  // MARK: - What the service manager says

  /// The service manager carries out an order with this job.
  mutating func accept(_ order: TargetOrder, job: UInt32) -> Outcome {
    guard case .asked(order.verb, let ended) = targets[order.unit] else { return .expected }
    if let result = ended[job] { return end(order, result) }
    targets[order.unit] = .changing(order.verb, job: job)
    return .expected
  }

  /// The service manager does not carry out an order.
  mutating func refuse(_ order: TargetOrder, isUnknown: Bool) {
    guard case .asked(order.verb, _) = targets[order.unit] else { return }
    // What the service manager does not know is not active.
    targets[order.unit] = order.verb == .start || isUnknown ? nil : .active
    heldBack.insert(order)
  }

  /// A job of a target ended with this result, such as `done`, `canceled` or `dependency`.
  mutating func end(job: UInt32, of unit: TargetUnit, _ result: String) -> Outcome {
    switch targets[unit] {
    case .asked(let verb, var ended):
      ended[job] = result
      targets[unit] = .asked(verb, ended: ended)
      return .expected
    case .changing(let verb, job): return end(TargetOrder(verb: verb, unit: unit), result)
    case .changing: return .expected
    case .active, .failed, nil: return .unexpected
    }
  }

  private mutating func end(_ order: TargetOrder, _ result: String) -> Outcome {
    let isDone = result == "done"
    switch (order.verb, isDone) {
    case (.start, true), (.stop, false): targets[order.unit] = .active
    case (.start, false): targets[order.unit] = .failed
    case (.stop, true): targets[order.unit] = nil
    }
    if isDone { return .done(order) }
    heldBack.insert(order)
    return .failed(order, result)
  }

  /// Takes the list of all targets that a new connection gave: nothing else is known any more.
  mutating func begin(_ list: [ListedTarget]) {
    heldBack = []
    targets = [:]
    for listed in list {
      let resting: Status? = listed.isActive ? .active : nil
      targets[listed.unit] = listed.job.map { .changing($0.verb, job: $0.number) } ?? resting
    }
  }

  /// Takes a list of all targets because another program started or stopped some. It is older than
  /// the orders that are under way. A wanted target that was stopped stays so.
  mutating func correct(_ list: [ListedTarget]) {
    let active = Set(list.filter(\.isActive).map(\.unit))
    for unit in Set(targets.keys).union(active) {
      switch (targets[unit], active.contains(unit)) {
      case (nil, true):
        targets[unit] = .active
      case (.active, false):
        targets[unit] = nil
        if unit == wanted { heldBack.insert(TargetOrder(verb: .start, unit: unit)) }
      case (nil, false), (.active, true), (.failed, _), (.asked, _), (.changing, _): break
      }
    }
  }
}
