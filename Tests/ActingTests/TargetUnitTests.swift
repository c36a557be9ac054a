import KeyboardModes
import KeymodeClient
import Testing

@testable import Acting

@Suite("Acting: the names of targets")
struct TargetUnitTests {
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
    "a state whose name no unit can have has no target",
    arguments: [
      "", "a b", "a/b", "é", "a@b", "a.b", "%i", "a\u{1b}", String(repeating: "z", count: 250),
    ])
  func unusable(_ state: String) { #expect(TargetUnit(.keyboard, state) == nil) }

  @Test(
    "other units are not targets of states",
    arguments: [
      "keymode-keyboard@.target", "keymode-keyboard@a.service", "keymode-keyboard.target",
      "keymode-keys@a.target", "xkeymode-shift@a.target", "keymode-shift@a b.target", "",
      "keymode-shift@", ".target", "keymode-shift@.targe",
    ])
  func others(name: String) { #expect(TargetUnit(name: name) == nil) }
}
