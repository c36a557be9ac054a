import Session
import KeyboardModes
import TestSupport
import Testing

func change(
  _ from: String, _ to: String, _ event: String = "x", at time: Int64 = 0,
  of machine: MachineName = .shift
) -> Change {
  Change(
    sequence: 1, time: Time(microseconds: time), machine: machine, from: from, to: to, event: event)
}

private let longName = String(repeating: "a", count: 40)

@Suite("Watching: lines of changes")
struct ChangeLineTests {
  @Test(
    "a change is one line",
    arguments: [
      (
        change("off", "on", "shiftPressed", at: 1_234_567),
        "     1.234567  shift     off → on                             shiftPressed"
      ),
      (
        change("prepareToEditText", "prepareToRecord", "clickSwitchButton", of: .keyboard),
        "     0.000000  keyboard  prepareToEditText → prepareToRecord  clickSwitchButton"
      ),
      (
        change("a", "b", "x", at: -1),
        "    -0.000001  shift     a → b                                x"
      ),
      (
        change("a", "b", "x", at: .min),
        "-9223372036854.775808  shift     a → b                                x"
      ),
      (
        change("näh", "\u{1b}[m", "\u{202e}", at: 5),
        "     0.000005  shift     näh → \u{fffd}[m                            \u{fffd}"
      ),
      (
        change(longName, "b"),
        "     0.000000  shift     " + longName + " → b  x"
      ),
    ])
  func line(_ change: Change, _ line: String) {
    #expect(ChangeLine.text(of: change).description == line)
  }

  @Test("a line can show another time than that of the change")
  func shownTime() {
    let text = ChangeLine.text(of: change("off", "on"), at: Time(microseconds: 2_000_000))
    #expect(text.description.hasPrefix("     2.000000  shift"))
  }

  @Test("states are one line, and the number of missed changes may be unknown")
  func states() {
    let states = States(
      sequence: 3, shift: "on", shiftSince: nil, keyboard: "\n", keyboardSince: nil)
    #expect(
      ChangeLine.text(of: states, at: Time(microseconds: 7)).description
        == "     0.000007  shift is on, keyboard is \u{fffd}")
    let locked = States(
      sequence: 3, shift: "on", shiftSince: nil, keyboard: "a", keyboardSince: nil,
      locks: LockStates(caps: .on, num: .off))
    func line(_ machines: [MachineName]?) -> String {
      String(
        ChangeLine.text(of: locked, at: Time(microseconds: 7), for: machines).description.dropFirst(
          15))
    }
    #expect(
      line(nil) == "shift is on, keyboard is a, caps is on", "of the locks, those that are on")
    #expect(line([.num]) == "num is off")
    #expect(ChangeLine.text(ofMissed: 12) == "12")
    #expect(ChangeLine.text(ofMissed: nil) == "some")
  }
}
