import KeyboardModes
import KeymodeClient
import KeymodeInterface
import Testing

@testable import Acting

private func modes(
  _ sequence: Int64, _ shift: String, _ keyboard: String, shiftSince: Int64? = nil,
  keyboardSince: Int64? = nil
) -> Modes {
  Modes(
    sequence: sequence, shift: shift, shiftSince: shiftSince.map(Time.init(microseconds:)),
    keyboard: keyboard, keyboardSince: keyboardSince.map(Time.init(microseconds:)))
}

private func told(_ modes: Modes) -> Update {
  .states(StateMessage(instance: "i", time: Time(microseconds: 0), modes: modes))
}

private func change(
  _ sequence: Int64, _ machine: Machine, _ from: String, _ to: String
) -> Change {
  Change(
    sequence: sequence, time: Time(microseconds: sequence * 10), machine: machine, from: from,
    to: to, event: "e")
}

@Suite("Acting: known states")
struct KnownStatesTests {
  private let start = modes(4, "off", "idle", shiftSince: 1)
  private let away = Occurrence.unknown(.noDaemon(.connectionLost))
  private let notInFront = Occurrence.unknown(.sessionNotInFront)

  @Test("the states come first, and then each change with the states after it")
  func changes() {
    var known = KnownStates(isInFront: true)
    #expect(known.take(told(start)) == .states(start, change: nil))
    let shift = change(5, .shift, "off", "on")
    #expect(
      known.take(.change(shift))
        == .states(modes(5, "on", "idle", shiftSince: 50), change: shift))
    let keyboard = change(6, .keyboard, "idle", "busy")
    #expect(
      known.take(.change(keyboard))
        == .states(
          modes(6, "on", "busy", shiftSince: 50, keyboardSince: 60), change: keyboard))
  }

  @Test("missed changes are told as the states after them")
  func missed() {
    var known = KnownStates(isInFront: true)
    _ = known.take(told(start))
    #expect(known.take(.missed(12)) == nil)
    let later = modes(17, "on", "busy")
    #expect(known.take(told(later)) == .states(later, change: nil))
  }

  @Test("changes while the daemon was away are part of the states that follow them")
  func reconnected() {
    var known = KnownStates(isInFront: true)
    _ = known.take(told(start))
    #expect(known.take(.disconnected(.connectionLost)) == away)
    #expect(known.take(.change(change(5, .shift, "off", "on"))) == nil)
    #expect(known.take(.missed(nil)) == nil)
    let later = modes(5, "on", "idle")
    #expect(known.take(told(later)) == .states(later, change: nil))
  }

  @Test("an absent daemon is told at the start")
  func absent() {
    var known = KnownStates(isInFront: true)
    #expect(known.take(.disconnected(.connectionLost)) == away)
  }

  @Test("while the session is not in front, nothing is told but that, once")
  func session() {
    var known = KnownStates(isInFront: true)
    _ = known.take(told(start))
    #expect(known.take(isInFront: false) == notInFront)
    #expect(known.take(isInFront: false) == nil)
    #expect(known.take(.change(change(5, .keyboard, "idle", "busy"))) == nil)
    #expect(known.take(.disconnected(.connectionLost)) == nil)
    #expect(known.take(told(start)) == nil)
    #expect(known.take(.change(change(5, .keyboard, "idle", "busy"))) == nil)
    #expect(
      known.take(isInFront: true)
        == .states(modes(5, "off", "busy", shiftSince: 1, keyboardSince: 50), change: nil))
    #expect(known.take(isInFront: true) == nil)
  }

  @Test("a session that comes back to an absent daemon is told that")
  func sessionWithoutDaemon() {
    var known = KnownStates(isInFront: false)
    #expect(known.take(.disconnected(.connectionLost)) == nil)
    #expect(known.take(isInFront: true) == away)
    #expect(known.take(isInFront: false) == notInFront, "this reason is the stronger one")
  }

  @Test("no state is told before the session is known")
  func unknownSession() {
    var states = KnownStates(isInFront: nil)
    #expect(states.take(told(start)) == nil)
    #expect(states.take(isInFront: true) == .states(start, change: nil))
    var front = KnownStates(isInFront: nil)
    #expect(front.take(isInFront: true) == nil)
    #expect(front.take(told(start)) == .states(start, change: nil))
    var back = KnownStates(isInFront: nil)
    #expect(back.take(told(start)) == nil)
    #expect(back.take(isInFront: false) == notInFront)
    var first = KnownStates(isInFront: nil)
    #expect(first.take(isInFront: false) == notInFront)
    #expect(first.take(told(start)) == nil)
  }
}
