import KeyboardModes
import KeymodeClient
import TestSupport
import Testing

@testable import Acting

@Suite("Acting: targets in any order of what can happen")
struct TargetChanceTests {
  @Test(
    "no two targets of a machine are active at once, and at every rest exactly the right ones are",
    arguments: 0..<200)
  func anything(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var plan = TargetPlan(Machine.allCases)
    var manager = ModelManager()
    var now: Int64 = 0
    var wanted: [String] = []
    plan.connect([])
    for _ in 0..<300 {
      now += Int64.random(in: 0..<50_000, using: &random)
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<6:
        let (shift, keyboard) = (
          ["off", "on"].randomElement(using: &random) ?? "",
          ["a", "b", "c", "d"].randomElement(using: &random) ?? ""
        )
        let modes = Modes(
          sequence: 1, shift: shift, shiftSince: nil, keyboard: keyboard, keyboardSince: nil)
        plan.take(.states(CountedStates(modes), change: nil), at: Time(microseconds: now))
        wanted = ["keymode-shift@\(shift).target", "keymode-keyboard@\(keyboard).target"]
      case 6:
        plan.take(.unknown(.sessionNotInFront(.locked)), at: Time(microseconds: now))
        wanted = []
      case 7..<14: if manager.hasNews { manager.tell(&plan) }
      case 14..<18:
        if !manager.jobs.isEmpty {
          manager.end(Int.random(in: 0..<manager.jobs.count, using: &random))
        }
      case 18 where Bool.random(using: &random):
        plan.disconnect()
        manager.forgetNews()
        if Bool.random(using: &random) { manager.restart() }
        plan.connect(manager.list)
      default:
        manager.settle(&plan)
        #expect(plan.isAtRest || wanted.isEmpty && manager.orders.isEmpty)
        #expect(Set(manager.active.map(\.name)) == Set(wanted))
      }
      manager.perform(&plan)
      for machine in Machine.allCases {
        #expect(manager.active.count { $0.machine == machine } <= 1)
      }
    }
    #expect(manager.messages == [])
    #expect(manager.lists == 0)
  }
}
