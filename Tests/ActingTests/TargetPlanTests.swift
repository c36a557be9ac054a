import KeyboardModes
import KeymodeClient
import Testing

@testable import Acting

@Suite("Acting: the plan of targets")
struct TargetPlanTests {
  @Test("the target of the present state is started, and the next one once it has stopped")
  func change() {
    var trial = TargetTrial()
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
    var trial = TargetTrial()
    trial.enter("a")
    trial.settle()
    for state in ["b", "c", "d"] { trial.enter(state) }
    #expect(trial.settledOrders() == ["start a", "stop a", "start d"])
    #expect(trial.active == ["keymode-keyboard@d.target"])
  }

  @Test("a state that was left and entered during its stop is started again after the stop")
  func returned() {
    var trial = TargetTrial()
    trial.enter("a")
    trial.settle()
    trial.enter("b")
    trial.enter("a")
    #expect(trial.settledOrders() == ["start a", "stop a", "start a"])
    #expect(trial.active == ["keymode-keyboard@a.target"])
  }

  @Test("a start that takes long is replaced by the stop as soon as its state is left")
  func slowStart() {
    var trial = TargetTrial()
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
    var trial = TargetTrial()
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

  @Test("targets that are active at the start are stopped, but not that of the present state")
  func stale() {
    var trial = TargetTrial(active: [
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
    var trial = TargetTrial([.shift, .keyboard])
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
    var trial = TargetTrial()
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
    var trial = TargetTrial.resting(in: "a")
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
    var trial = TargetTrial()
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
    var trial = TargetTrial(active: ["keymode-keyboard@a.target"])
    trial.lose(.noDaemon(.noDaemon(path: "/run/keymoded/state.sock")))
    #expect(trial.plan.isReady)
    trial.pass(1_000_000)
    #expect(trial.settledOrders() == ["stop a"])
  }

  @Test("when the session is not in front any more, all targets are stopped at once")
  func session() {
    var trial = TargetTrial([.shift, .keyboard])
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
    var trial = TargetTrial()
    trial.enter("a")
    trial.settle()
    trial.lose()
    trial.pass(100)
    trial.lose(.sessionNotInFront(.locked))
    #expect(trial.settledOrders() == ["start a", "stop a"])
    #expect(trial.plan.deadline == nil)
  }

  // MARK: - The end

  @Test("at the end all targets are stopped, and later states start none")
  func finish() {
    var trial = TargetTrial()
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
    var trial = TargetTrial()
    trial.enter("a")
    trial.settle()
    trial.plan.disconnect()
    trial.plan.finish()
    #expect(trial.plan.isFinished)
  }
}
