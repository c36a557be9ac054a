import KeyboardModes
import Testing

@testable import Acting

@Suite("Acting: the names of targets")
struct TargetUnitTests {
  @Test("the name of a state is the name of an instance, as it is", arguments: ["a", "A-b_9"])
  func names(state: String) {
    for machine in Machine.allCases {
      let unit = TargetUnit(machine: machine, state: state)
      #expect(unit.name == "keymode-\(machine)@\(state).target")
      #expect(TargetUnit(name: unit.name) == unit)
    }
  }

  @Test(
    "other units are not targets of states",
    arguments: [
      "keymode-keyboard@a.service", "keymode-keyboard.target", "keymode-keys@a.target",
      "xkeymode-shift@a.target", "", "keymode-shift@", ".target", "keymode-shift@.targe",
    ])
  func others(name: String) { #expect(TargetUnit(name: name) == nil) }
}
