import KeyboardModes
import StateMachineTesting
import StateMachines
import Testing

@Suite("Shipped machines")
struct ShippedMachineTests {
  @Test("the keyboard machine is sound and has no dead state")
  func keyboard() throws {
    try expectSound(CompiledTable.shipped, diagram: "keyboard")
  }

  @Test("the Shift machine matches its diagram and has no dead state")
  func shift() throws {
    let rules = ShiftRules()
    try expectDiagram(Diagram(of: rules), "shift")
    #expect(rules.soundnessFaults == [])
    #expect(ShiftRules(timeout: .seconds(3)).soundnessFaults == [])
  }

  @Test("the next states of Shift are those of its diagram, whatever the time of the press")
  func nextStates() {
    var machine = StateMachine(ShiftRules())
    #expect(machine.nextStates == ["on", "capsLock"], "a press may be taken back from here")
    machine.send(.shiftPressed(at: Time(microseconds: 10_000_000)))
    #expect(machine.nextStates == ["off", "capsLock"], "to an earlier `on` changes a payload only")
    machine.send(.shiftPressed(at: Time(microseconds: 10_100_000)))
    #expect(machine.state == .capsLock)
    #expect(machine.nextStates == ["off", "on"])
  }
}
