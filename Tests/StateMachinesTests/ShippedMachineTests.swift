import KeyboardModes
import StateMachines
import Testing

@Suite("The machines that keymoded ships")
struct ShippedMachineTests {
  @Test("The keyboard is sound, and nothing in it is an end")
  func keyboard() throws {
    try expectSound(KeyboardRules(), diagram: "keyboard")
    #expect(KeyboardRules().deadStates == [])
  }

  @Test("Shift is drawn as it is, and nothing in it is an end")
  func shift() throws {
    let rules = ShiftRules()
    try expectDiagram(Diagram(of: rules), "shift")
    #expect(rules.ambiguousArrows == [])
    #expect(rules.unknownStates == [])
    #expect(rules.unreachableStates == [])
    #expect(rules.deadStates == [])
  }

  @Test("Shift can go where the diagram says, whenever it was pressed")
  func nextStates() {
    var machine = StateMachine(ShiftRules())
    #expect(machine.nextStates == ["on"])
    machine.take(.shiftPressed(at: Time(microseconds: 10_000_000)))
    #expect(machine.nextStates == ["off", "capsLock"])
    machine.take(.shiftPressed(at: Time(microseconds: 10_100_000)))
    #expect(machine.state == .capsLock)
    #expect(machine.nextStates == ["off"])
  }
}
