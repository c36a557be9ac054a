import KeyboardModes
import KeymodeClient

@testable import Acting

/// A plan and the manager that it plans for, with a clock.
struct TargetTrial {
  var plan: TargetPlan
  var manager: ModelManager
  var now = Time(microseconds: 0)

  init(_ machines: [Machine] = [.keyboard], active: [String] = []) {
    plan = TargetPlan(machines)
    manager = ModelManager(active: active.compactMap(TargetUnit.init(name:)))
    plan.connect(manager.list)
  }

  /// A trial in which the target of this state has been started, with no order left to look at.
  static func resting(in keyboard: String) -> TargetTrial {
    var trial = TargetTrial()
    trial.enter(keyboard)
    trial.settle()
    _ = trial.manager.takeOrders()
    return trial
  }

  /// Enters these states.
  mutating func enter(_ keyboard: String, shift: String = "off") {
    let modes = Modes(
      sequence: 1, shift: shift, shiftSince: nil, keyboard: keyboard, keyboardSince: nil)
    plan.take(.states(CountedStates(modes), change: nil), at: now)
    manager.perform(&plan)
  }

  mutating func lose(_ reason: Occurrence.Reason = .noDaemon(.connectionLost)) {
    plan.take(.unknown(reason), at: now)
    manager.perform(&plan)
  }

  mutating func pass(_ microseconds: Int64) {
    now = Time(microseconds: now.microseconds + microseconds)
    plan.reach(now)
    manager.perform(&plan)
  }

  /// Tells the plan all news, without ending a job.
  mutating func tell() {
    while manager.hasNews {
      manager.tell(&plan)
      manager.perform(&plan)
    }
  }

  mutating func settle() { manager.settle(&plan) }

  /// The orders since the last call, once everything has settled.
  mutating func settledOrders() -> [String] {
    settle()
    return manager.takeOrders()
  }

  var active: Set<String> { Set(manager.active.map(\.name)) }
}

/// An order for the target of a state of the keyboard.
func order(_ verb: TargetOrder.Verb, _ state: String) -> TargetOrder? {
  TargetUnit(.keyboard, state).map { TargetOrder(verb: verb, unit: $0) }
}
