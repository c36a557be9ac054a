import KeyboardModes
import TestSupport
import Testing

@Suite("LED rules")
struct LEDRulesTests {
  private let capsLock = LEDs(number: 1)
  private let scrollLock = LEDs(number: 2)
  private let misc = LEDs(number: 8)

  private func states(_ shift: String, _ keyboard: String) -> States {
    States(sequence: 0, shift: shift, shiftSince: nil, keyboard: keyboard, keyboardSince: nil)
  }

  @Test("an LED is on exactly while either machine is in one of its states")
  func on() {
    let rules = LEDRules([
      "capsLock": capsLock, "on": [], "prepareToRecord": [scrollLock, capsLock], "own": misc,
    ])
    #expect(rules.used == [capsLock, scrollLock, misc])
    #expect(rules.ledsOn(in: states("off", "editingText")) == [])
    #expect(rules.ledsOn(in: states("on", "editingText")) == [])
    #expect(rules.ledsOn(in: states("capsLock", "editingText")) == capsLock)
    #expect(rules.ledsOn(in: states("off", "prepareToRecord")) == [scrollLock, capsLock])
    #expect(rules.ledsOn(in: states("capsLock", "prepareToRecord")) == [scrollLock, capsLock])
    #expect(rules.ledsOn(in: states("capsLock", "own")) == [capsLock, misc])
  }

  @Test("empty rules use no LED")
  func none() {
    #expect(LEDRules().used == [])
    #expect(LEDRules().ledsOn(in: states("capsLock", "editingText")) == [])
    #expect(LEDRules() == LEDRules([:]))
  }

  @Test("LEDs have the kernel's numbers")
  func numbers() {
    #expect(LEDs([misc, capsLock]).numbers == [1, 8])
    #expect(LEDs(number: 0).numbers == [0])
    #expect(LEDs(number: 15).numbers == [15])
    #expect(LEDs(number: 16) == [], "more than the kernel has")
  }
}
