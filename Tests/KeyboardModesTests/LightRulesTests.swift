import KeyboardModes
import Testing

@Suite("LED rules")
struct LightRulesTests {
  private let capsLock = Lights(number: 1)
  private let scrollLock = Lights(number: 2)
  private let misc = Lights(number: 8)

  private func modes(_ shift: String, _ keyboard: String) -> Modes {
    Modes(sequence: 0, shift: shift, shiftSince: nil, keyboard: keyboard, keyboardSince: nil)
  }

  @Test("an LED is on exactly while either machine is in one of its states")
  func lit() {
    let rules = LightRules([
      "capsLock": capsLock, "on": [], "prepareToRecord": [scrollLock, capsLock], "own": misc,
    ])
    #expect(rules.used == [capsLock, scrollLock, misc])
    #expect(rules.lit(in: modes("off", "editingText")) == [])
    #expect(rules.lit(in: modes("on", "editingText")) == [])
    #expect(rules.lit(in: modes("capsLock", "editingText")) == capsLock)
    #expect(rules.lit(in: modes("off", "prepareToRecord")) == [scrollLock, capsLock])
    #expect(rules.lit(in: modes("capsLock", "prepareToRecord")) == [scrollLock, capsLock])
    #expect(rules.lit(in: modes("capsLock", "own")) == [capsLock, misc])
  }

  @Test("empty rules use no LED")
  func none() {
    #expect(LightRules().used == [])
    #expect(LightRules().lit(in: modes("capsLock", "editingText")) == [])
    #expect(LightRules() == LightRules([:]))
  }

  @Test("LEDs have the kernel's numbers")
  func numbers() {
    #expect(Lights([misc, capsLock]).numbers == [1, 8])
    #expect(Lights(number: 0).numbers == [0])
    #expect(Lights(number: 15).numbers == [15])
    #expect(Lights(number: 16) == [], "more than the kernel has")
  }
}
