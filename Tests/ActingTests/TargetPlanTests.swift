import KeyboardModes
import KeymodeClient
import Testing

@testable import Acting

/// A plan and the manager that it plans for, with a clock.
private struct Trial {
  var plan: TargetPlan
  var manager: ModelManager
  var now = Time(microseconds: 0)

  init(_ machines: [Machine] = [.keyboard], active: [String] = []) {
    plan = TargetPlan(machines)
    manager = ModelManager(active: active.compactMap(TargetUnit.init(name:)))
    plan.connect(manager.list)
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

private func order(_ verb: TargetOrder.Verb, _ state: String) -> TargetOrder? {
  TargetUnit(.keyboard, state).map { TargetOrder(verb: verb, unit: $0) }
}

@Suite("Acting: the plan of targets")
struct TargetPlanTests {
  @Test("the target of the present state is started, and the next one once it has stopped")
  func change() {
    var trial = Trial()
    trial.enter("a")
    #expect(trial.settledOrders() == ["start a"])
    trial.enter("b")
    #expect(trial.manager.takeOrders() == ["stop a"])
    trial.tell()
    #expect(trial.manager.takeOrders() == [], "the stop is under way")
    #expect(trial.settledOrders() == ["start b"])
    #expect(trial.active == ["keymode-keyboard@b.target"])
    #expect(trial.plan.isAtRest)
    #expect(trial.settledOrders() == [])
  }

  @Test("only the newest of the states that came during a stop is started")
  func newest() {
    var trial = Trial()
    trial.enter("a")
    trial.settle()
    for state in ["b", "c", "d"] { trial.enter(state) }
    #expect(trial.settledOrders() == ["start a", "stop a", "start d"])
    #expect(trial.active == ["keymode-keyboard@d.target"])
  }

  @Test("a state that was left and entered during its stop is started again after the stop")
  func returned() {
    var trial = Trial()
    trial.enter("a")
    trial.settle()
    trial.enter("b")
    trial.enter("a")
    #expect(trial.settledOrders() == ["start a", "stop a", "start a"])
    #expect(trial.active == ["keymode-keyboard@a.target"])
  }

  @Test("a start that takes long is replaced by the stop as soon as its state is left")
  func slowStart() {
    var trial = Trial()
    trial.enter("a")
    trial.enter("b")
    #expect(trial.manager.takeOrders() == ["start a"], "which job it is, is not known yet")
    trial.tell()
    #expect(trial.manager.takeOrders() == ["stop a"])
    #expect(trial.settledOrders() == ["start b"])
    #expect(trial.active == ["keymode-keyboard@b.target"])
    #expect(trial.manager.takeMessages() == [])
    #expect(trial.manager.lists == 0)
  }

  @Test("a job that ends before the answer that names it counts")
  func earlyEnd() {
    var trial = Trial()
    trial.enter("a")
    trial.manager.end()
    trial.manager.tellLast(&trial.plan)
    #expect(!trial.plan.isAtRest)
    trial.tell()
    #expect(trial.plan.isAtRest)
    trial.enter("b")
    #expect(trial.settledOrders() == ["start a", "stop a", "start b"])
    #expect(trial.manager.lists == 0)
  }

  @Test("a target that cannot be started is told of once, and tried again with each entering")
  func masked() {
    var trial = Trial()
    trial.manager.masked = Set([TargetUnit(.keyboard, "a")].compactMap { $0 })
    for _ in 0..<3 {
      trial.enter("a")
      #expect(trial.settledOrders() == ["start a"])
      #expect(trial.plan.isAtRest)
      trial.enter("b")
      #expect(trial.settledOrders() == ["start b"])
      trial.enter("c")
      trial.settle()
      _ = trial.manager.takeOrders()
      trial.lose(.sessionNotInFront(.locked))
      #expect(trial.settledOrders() == ["stop c"])
    }
    #expect(
      trial.manager.takeMessages()
        == ["cannot start keymode-keyboard@a.target: it is masked"])
    trial.manager.masked = []
    trial.enter("a")
    trial.settle()
    #expect(trial.active == ["keymode-keyboard@a.target"])
    trial.enter("b")
    trial.settle()
    trial.manager.masked = Set([TargetUnit(.keyboard, "a")].compactMap { $0 })
    trial.enter("a")
    trial.settle()
    #expect(trial.manager.takeMessages().count == 1, "after a success, a failure is news")
  }

  @Test(
    "a start that fails is told of once and not repeated",
    arguments: ["failed", "dependency", "timeout", "canceled"])
  func failed(result: String) {
    var trial = Trial()
    trial.enter("a")
    trial.tell()
    trial.manager.end(0, result)
    #expect(trial.settledOrders() == ["start a"])
    #expect(
      trial.manager.takeMessages()
        == ["cannot start keymode-keyboard@a.target: its job ended with '\(result)'"])
    #expect(trial.plan.isAtRest)
    trial.enter("b")
    #expect(trial.settledOrders() == ["start b"])
  }

  @Test("a target that cannot be stopped is told of once, and does not hold up the next one")
  func stubborn() {
    var trial = Trial()
    trial.enter("a")
    trial.settle()
    trial.enter("b")
    trial.tell()
    trial.manager.end(0, "canceled")
    #expect(trial.settledOrders() == ["start a", "stop a", "start b"])
    #expect(
      trial.manager.takeMessages()
        == ["cannot stop keymode-keyboard@a.target: its job ended with 'canceled'"])
    trial.enter("c")
    #expect(trial.settledOrders() == ["stop b", "start c"])
    trial.enter("a")
    #expect(trial.settledOrders() == ["stop c"])
    trial.enter("c")
    #expect(trial.settledOrders() == ["stop a", "start c"])
    #expect(trial.active == ["keymode-keyboard@c.target"])
  }

  @Test("a stop of a target that the manager does not know is done")
  func unknown() {
    var trial = Trial()
    trial.enter("a")
    trial.settle()
    let stop = order(.stop, "a")
    trial.plan.take(.unknown(.sessionNotInFront(.locked)), at: trial.now)
    #expect(trial.plan.nextAction() == stop.map(TargetPlan.Action.order))
    if let stop { trial.plan.refuse(stop, "not loaded", isUnknown: true) }
    #expect(trial.plan.nextAction() == nil)
    #expect(trial.plan.isAtRest)
  }

  @Test("targets that are active at the start are stopped, but not that of the present state")
  func stale() {
    var trial = Trial(active: [
      "keymode-keyboard@a.target", "keymode-keyboard@b.target", "keymode-shift@on.target",
    ])
    trial.manager.perform(&trial.plan)
    #expect(trial.manager.takeOrders() == [], "nothing is known yet")
    #expect(!trial.plan.isReady)
    trial.enter("b")
    #expect(Set(trial.settledOrders()) == ["stop on", "stop a"])
    #expect(trial.active == ["keymode-keyboard@b.target"])
    #expect(trial.plan.isReady)
  }

  @Test("with Shift, both machines have a target, each on its own")
  func shift() {
    var trial = Trial([.shift, .keyboard])
    trial.enter("a", shift: "off")
    trial.settle()
    #expect(trial.active == ["keymode-shift@off.target", "keymode-keyboard@a.target"])
    _ = trial.manager.takeOrders()
    trial.enter("a", shift: "capsLock")
    #expect(trial.settledOrders() == ["stop off", "start capsLock"])
    #expect(trial.active == ["keymode-shift@capsLock.target", "keymode-keyboard@a.target"])
  }

  // MARK: - The daemon and the session

  @Test("a daemon that is back within a second stops nothing", arguments: [0, 1, 999_999])
  func restart(away: Int64) {
    var trial = Trial()
    trial.enter("a")
    trial.settle()
    trial.lose()
    #expect(trial.plan.deadline == Time(microseconds: 1_000_000))
    trial.pass(away)
    trial.enter("a")
    #expect(trial.plan.deadline == nil)
    trial.pass(10_000_000)
    #expect(trial.settledOrders() == ["start a"])
  }

  @Test("one second after the daemon went, all targets are stopped")
  func away() {
    var trial = Trial()
    trial.enter("a")
    trial.settle()
    _ = trial.manager.takeOrders()
    trial.lose()
    trial.pass(999_999)
    #expect(trial.settledOrders() == [])
    trial.pass(1)
    #expect(trial.settledOrders() == ["stop a"])
    #expect(trial.plan.deadline == nil, "nothing wakes the program up any more")
    #expect(trial.plan.isAtRest)
    trial.enter("a")
    #expect(trial.settledOrders() == ["start a"])
  }

  @Test("a daemon that is back in another state changes the targets")
  func otherState() {
    var trial = Trial()
    trial.enter("a")
    trial.settle()
    trial.lose()
    trial.pass(300_000)
    trial.enter("b")
    #expect(trial.settledOrders() == ["start a", "stop a", "start b"])
  }

  @Test(
    "without a daemon at the start, the program is ready, and stale targets stop after a second")
  func noDaemon() {
    var trial = Trial(active: ["keymode-keyboard@a.target"])
    trial.lose(.noDaemon(.noDaemon(path: "/run/keymoded/state.sock")))
    #expect(trial.plan.isReady)
    trial.pass(1_000_000)
    #expect(trial.settledOrders() == ["stop a"])
  }

  @Test("when the session is not in front any more, all targets are stopped at once")
  func session() {
    var trial = Trial([.shift, .keyboard])
    trial.enter("a")
    trial.settle()
    _ = trial.manager.takeOrders()
    trial.lose(.sessionNotInFront(.locked))
    #expect(trial.settledOrders() == ["stop off", "stop a"])
    #expect(trial.plan.deadline == nil)
    trial.enter("b")
    #expect(trial.settledOrders() == ["start off", "start b"])
  }

  @Test(
    "a session that leaves while the daemon is away stops the targets before the second is over")
  func sessionWhileAway() {
    var trial = Trial()
    trial.enter("a")
    trial.settle()
    trial.lose()
    trial.pass(100)
    trial.lose(.sessionNotInFront(.locked))
    #expect(trial.settledOrders() == ["start a", "stop a"])
    #expect(trial.plan.deadline == nil)
  }

  // MARK: - The service manager

  @Test("a manager that executes itself again keeps its targets, and nothing is stopped or started")
  func reexecution() {
    var trial = Trial()
    trial.enter("a")
    trial.settle()
    _ = trial.manager.takeOrders()
    trial.plan.disconnect()
    #expect(!trial.plan.isAtRest)
    trial.plan.connect(trial.manager.list)
    #expect(trial.settledOrders() == [])
    #expect(trial.plan.isAtRest)
  }

  @Test("states that change while there is no manager take effect once it is back")
  func absentManager() {
    var trial = Trial()
    trial.enter("a")
    trial.settle()
    _ = trial.manager.takeOrders()
    trial.plan.disconnect()
    trial.enter("b")
    #expect(trial.manager.takeOrders() == [])
    trial.plan.connect(trial.manager.list)
    #expect(trial.settledOrders() == ["stop a", "start b"])
  }

  @Test("a manager that was started anew gets the target of the present state")
  func newManager() {
    var trial = Trial()
    trial.enter("a")
    trial.settle()
    _ = trial.manager.takeOrders()
    trial.plan.disconnect()
    trial.manager.restart()
    trial.plan.connect(trial.manager.list)
    #expect(trial.settledOrders() == ["start a"])
    #expect(trial.active == ["keymode-keyboard@a.target"])
  }

  @Test("a job that was under way when the connection was lost is waited for")
  func adoptedJob() {
    var trial = Trial()
    trial.enter("a")
    trial.settle()
    trial.enter("b")
    _ = trial.manager.takeOrders()
    trial.manager.forgetNews()
    trial.plan.disconnect()
    trial.plan.connect(trial.manager.list)
    trial.manager.perform(&trial.plan)
    #expect(trial.manager.takeOrders() == [], "the stop is under way")
    #expect(trial.settledOrders() == ["start b"])
    #expect(trial.active == ["keymode-keyboard@b.target"])
  }

  @Test("a target that another program starts is stopped")
  func foreignStart() throws {
    var trial = Trial()
    trial.enter("a")
    trial.settle()
    _ = trial.manager.takeOrders()
    trial.manager.takeFromOther(try #require(order(.start, "x")))
    #expect(trial.settledOrders() == ["stop x"])
    #expect(trial.manager.lists == 1)
    #expect(trial.active == ["keymode-keyboard@a.target"])
  }

  @Test("a target that another program stops stays so until its state is entered again")
  func foreignStop() throws {
    var trial = Trial()
    trial.enter("a")
    trial.settle()
    _ = trial.manager.takeOrders()
    trial.manager.takeFromOther(try #require(order(.stop, "a")))
    #expect(trial.settledOrders() == [])
    #expect(trial.plan.isAtRest)
    #expect(trial.active == [])
    trial.enter("b")
    trial.enter("a")
    trial.settle()
    #expect(trial.active == ["keymode-keyboard@a.target"])
  }

  // MARK: - The end

  @Test("at the end all targets are stopped, and later states start none")
  func finish() {
    var trial = Trial()
    trial.enter("a")
    trial.settle()
    trial.plan.finish()
    #expect(!trial.plan.isFinished)
    trial.enter("b")
    #expect(!trial.plan.isFinished, "the order is not answered yet")
    trial.tell()
    #expect(trial.plan.isFinished)
    #expect(trial.settledOrders() == ["start a", "stop a"])
    #expect(trial.active == [])
  }

  @Test("without a manager there is nothing to end")
  func finishWithoutManager() {
    var trial = Trial()
    trial.enter("a")
    trial.settle()
    trial.plan.disconnect()
    trial.plan.finish()
    #expect(trial.plan.isFinished)
  }

  // MARK: - Names

  @Test(
    "every name of a state that the configuration admits is the name of an instance, as it is",
    arguments: ["editingText", "a", "A-b_9", "x--y", String(repeating: "z", count: 32)])
  func names(state: String) throws {
    for machine in Machine.allCases {
      let unit = try #require(TargetUnit(machine, state))
      #expect(unit.name == "keymode-\(machine)@\(state).target")
      #expect(TargetUnit(name: unit.name) == unit)
    }
  }

  @Test(
    "a state whose name no unit can have is told of once, and has no target",
    arguments: [
      "", "a b", "a/b", "é", "a@b", "a.b", "%i", "a\u{1b}", String(repeating: "z", count: 250),
    ])
  func unusable(state: String) {
    #expect(TargetUnit(.keyboard, state) == nil)
    var trial = Trial()
    for _ in 0..<3 {
      trial.enter("a")
      trial.settle()
      trial.enter(state)
      trial.settle()
      #expect(trial.active == [])
    }
    #expect(trial.manager.takeMessages().count == 1)
  }

  @Test(
    "other units are not targets of states",
    arguments: [
      "keymode-keyboard@.target", "keymode-keyboard@a.service", "keymode-keyboard.target",
      "keymode-keys@a.target", "xkeymode-shift@a.target", "keymode-shift@a b.target", "",
      "keymode-shift@", ".target", "keymode-shift@.targe",
    ])
  func others(name: String) { #expect(TargetUnit(name: name) == nil) }
}
