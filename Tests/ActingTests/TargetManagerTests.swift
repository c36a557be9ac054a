import KeyboardModes
import KeymodeClient
import Testing

@testable import Acting

@Suite("Acting: targets and the service manager")
struct TargetManagerTests {
  // MARK: - Failures

  @Test("a target that cannot be started is told of once, and tried again with each entering")
  func masked() {
    var trial = TargetTrial()
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
    "a start that fails is told of once and not repeated; what it pulled in is stopped",
    arguments: ["failed", "dependency", "timeout", "canceled"])
  func failed(result: String) {
    var trial = TargetTrial()
    trial.enter("a")
    trial.tell()
    trial.manager.end(0, result)
    #expect(trial.settledOrders() == ["start a"])
    #expect(
      trial.manager.takeMessages()
        == ["cannot start keymode-keyboard@a.target: its job ended with '\(result)'"])
    #expect(trial.plan.isAtRest)
    trial.enter("b")
    #expect(trial.settledOrders() == ["stop a", "start b"])
  }

  @Test("a target that cannot be stopped is told of once, and does not hold up the next one")
  func stubborn() {
    var trial = TargetTrial()
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
    var trial = TargetTrial()
    trial.enter("a")
    trial.settle()
    let stop = order(.stop, "a")
    trial.plan.take(.unknown(.sessionNotInFront(.locked)), at: trial.now)
    #expect(trial.plan.nextAction() == stop.map(TargetPlan.Action.order))
    if let stop { trial.plan.refuse(stop, "not loaded", isUnknown: true) }
    #expect(trial.plan.nextAction() == nil)
    #expect(trial.plan.isAtRest)
  }

  // MARK: - Connections and other programs

  @Test("a manager that executes itself again keeps its targets, and nothing is stopped or started")
  func reexecution() {
    var trial = TargetTrial.resting(in: "a")
    trial.plan.disconnect()
    #expect(!trial.plan.isAtRest)
    trial.plan.connect(trial.manager.list)
    #expect(trial.settledOrders() == [])
    #expect(trial.plan.isAtRest)
  }

  @Test("states that change while there is no manager take effect once it is back")
  func absentManager() {
    var trial = TargetTrial.resting(in: "a")
    trial.plan.disconnect()
    trial.enter("b")
    #expect(trial.manager.takeOrders() == [])
    trial.plan.connect(trial.manager.list)
    #expect(trial.settledOrders() == ["stop a", "start b"])
  }

  @Test("a manager that was started anew gets the target of the present state")
  func newManager() {
    var trial = TargetTrial.resting(in: "a")
    trial.plan.disconnect()
    trial.manager.restart()
    trial.plan.connect(trial.manager.list)
    #expect(trial.settledOrders() == ["start a"])
    #expect(trial.active == ["keymode-keyboard@a.target"])
  }

  @Test("a job that was under way when the connection was lost is waited for")
  func adoptedJob() {
    var trial = TargetTrial()
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
    var trial = TargetTrial.resting(in: "a")
    trial.manager.takeFromOther(try #require(order(.start, "x")))
    #expect(trial.settledOrders() == ["stop x"])
    #expect(trial.manager.lists == 1)
    #expect(trial.active == ["keymode-keyboard@a.target"])
  }

  @Test("a target that another program stops stays so until its state is entered again")
  func foreignStop() throws {
    var trial = TargetTrial.resting(in: "a")
    trial.manager.takeFromOther(try #require(order(.stop, "a")))
    #expect(trial.settledOrders() == [])
    #expect(trial.plan.isAtRest)
    #expect(trial.active == [])
    trial.enter("b")
    trial.enter("a")
    trial.settle()
    #expect(trial.active == ["keymode-keyboard@a.target"])
  }
}
