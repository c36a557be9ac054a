import KeyboardModes
import Keyboards
import Testing

@Suite("Bindings")
struct BindingsTests {
  @Test("an invalid chord is refused with its fault")
  func faults() throws {
    func chord(_ names: String...) throws -> Chord { try Chord(names.map(key)) }
    #expect(throws: ChordError.empty) { try chord() }
    #expect(throws: ChordError.endsInShift) { try chord("LEFTSHIFT") }
    #expect(throws: ChordError.endsInShift) { try chord("LEFTCTRL", "RIGHTSHIFT") }
    #expect(throws: ChordError.rightAltIsNotAModifier) { try chord("RIGHTALT", "V") }
    #expect(throws: ChordError.notAModifier(index: 1)) { try chord("LEFTCTRL", "B", "V") }
    #expect(throws: ChordError.modifierTwice(index: 1)) {
      try chord("LEFTCTRL", "RIGHTCTRL", "V")
    }
  }

  @Test("a chord cannot be bound to two events, whether with left or right modifiers")
  func conflict() throws {
    var bindings = Bindings()
    #expect(bindings.bind(try Chord([key("LEFTCTRL"), key("V")]), to: .tapTextField) == nil)
    let right = try Chord([key("RIGHTCTRL"), key("V")])
    #expect(bindings.bind(right, to: .tapBlankArea) == .tapTextField)
    #expect(bindings[right]?.press == .tapTextField)
    #expect(bindings.bind(right, to: .tapTextField) == .tapTextField)
  }

  @Test("one chord with one use has one event, and other uses may have others")
  func uses() throws {
    var bindings = Bindings()
    let chord = try Chord([key("F9")])
    let uses: [ChordTrigger] = [.press, .release, .hold(.seconds(1)), .tap]
    let events: [CompiledTable.Event] = [
      .tapTextField, .tapBlankArea, .clickMoreButton, .clickSwitchButton,
    ]
    for (use, event) in zip(uses, events) { #expect(bindings.bind(chord, use, to: event) == nil) }
    for (use, event) in zip(uses, events) {
      #expect(bindings.bind(chord, use, to: .tapTextField) == event)
    }
    #expect(bindings.bind(chord, .hold(.seconds(2)), to: .tapTextField) == .clickMoreButton)
    #expect(
      bindings[chord]?.withTriggers.map(\.trigger) == [.press, .tap, .hold(.seconds(1)), .release])
    bindings.unbind(.tapBlankArea)
    #expect(bindings[chord]?.release == nil)
    #expect(bindings[chord]?.press == .tapTextField)
    for event in events { bindings.unbind(event) }
    #expect(bindings[chord] == nil)
  }

  @Test("the time of a hold is rounded up to whole microseconds")
  func hold() throws {
    var bindings = Bindings()
    let chord = try Chord([key("F9")])
    #expect(bindings.bind(chord, .hold(.nanoseconds(1500)), to: .tapTextField) == nil)
    #expect(bindings[chord]?.holdDuration == .microseconds(2))
  }
}
