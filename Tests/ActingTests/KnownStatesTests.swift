import KeyboardModes
import KeymodeClient
import KeymodeInterface
import Systemd
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
  private let notInFront = Occurrence.unknown(.sessionNotInFront(.locked))

  @Test("the states come first, and then each change with the states after it")
  func changes() {
    var known = KnownStates(presence: .inFront)
    #expect(known.take(told(start)) == .states(CountedStates(start), change: nil))
    let shift = change(5, .shift, "off", "on")
    #expect(
      known.take(.change(shift))
        == .states(CountedStates(modes(5, "on", "idle", shiftSince: 50)), change: shift))
    let keyboard = change(6, .keyboard, "idle", "busy")
    #expect(
      known.take(.change(keyboard))
        == .states(
          CountedStates(modes(6, "on", "busy", shiftSince: 50, keyboardSince: 60)),
          change: keyboard))
  }

  @Test("missed changes are told as the states after them")
  func missed() {
    var known = KnownStates(presence: .inFront)
    _ = known.take(told(start))
    #expect(known.take(.missed(12)) == nil)
    let later = modes(17, "on", "busy")
    #expect(known.take(told(later)) == .states(CountedStates(later), change: nil))
  }

  @Test("changes while the daemon was away are part of the states that follow them")
  func reconnected() {
    var known = KnownStates(presence: .inFront)
    _ = known.take(told(start))
    #expect(known.take(.disconnected(.connectionLost)) == away)
    #expect(known.take(.change(change(5, .shift, "off", "on"))) == nil)
    #expect(known.take(.missed(nil)) == nil)
    let later = modes(5, "on", "idle")
    #expect(known.take(told(later)) == .states(CountedStates(later), change: nil))
  }

  @Test("an absent daemon is told at the start")
  func absent() {
    var known = KnownStates(presence: .inFront)
    #expect(known.take(.disconnected(.connectionLost)) == away)
  }

  @Test("while the session is not in front, nothing is told but that, once")
  func session() {
    var known = KnownStates(presence: .inFront)
    _ = known.take(told(start))
    #expect(known.take(.absent(.locked)) == notInFront)
    #expect(known.take(.absent(.locked)) == nil)
    #expect(known.take(.change(change(5, .keyboard, "idle", "busy"))) == nil)
    #expect(known.take(.disconnected(.connectionLost)) == nil)
    #expect(known.take(told(start)) == nil)
    #expect(known.take(.change(change(5, .keyboard, "idle", "busy"))) == nil)
    #expect(
      known.take(.inFront)
        == .states(
          CountedStates(
            modes(5, "off", "busy", shiftSince: 1, keyboardSince: 50),
            enteredElsewhere: [.keyboard]), change: nil))
    #expect(known.take(.inFront) == nil)
  }

  @Test("a session that comes back to an absent daemon is told that")
  func sessionWithoutDaemon() {
    var known = KnownStates(presence: .absent(.locked))
    #expect(known.take(.disconnected(.connectionLost)) == nil)
    #expect(known.take(.inFront) == away)
    #expect(known.take(.absent(.locked)) == notInFront, "this reason is the stronger one")
  }

  @Test("no state is told before the session is known")
  func unknownSession() {
    var states = KnownStates(presence: nil)
    #expect(states.take(told(start)) == nil)
    #expect(states.take(.inFront) == .states(CountedStates(start), change: nil))
    var front = KnownStates(presence: nil)
    #expect(front.take(.inFront) == nil)
    #expect(front.take(told(start)) == .states(CountedStates(start), change: nil))
    var back = KnownStates(presence: nil)
    #expect(back.take(told(start)) == nil)
    #expect(back.take(.absent(.locked)) == notInFront)
    var first = KnownStates(presence: nil)
    #expect(first.take(.absent(.locked)) == notInFront)
    #expect(first.take(told(start)) == nil)
  }

  @Test("a state that was entered while the session was not in front counts after the next change")
  func enteredElsewhere() throws {
    var known = KnownStates(presence: .inFront)
    _ = known.take(told(start))
    _ = known.take(.absent(.inactive))
    _ = known.take(.change(change(5, .keyboard, "idle", "busy")))
    guard case .states(let states, change: nil) = known.take(.inFront) else {
      Issue.record("no states")
      return
    }
    #expect(states[.shift] == "off")
    #expect(states[.keyboard] == nil)
    #expect(states.modes.keyboard == "busy")
    // A change of the other machine changes nothing about it.
    #expect(known.take(.change(change(6, .shift, "off", "on")))?.states?[.keyboard] == nil)
    #expect(known.take(.change(change(7, .keyboard, "busy", "idle")))?.states?[.keyboard] == "idle")
  }

  @Test("a state that was left and entered again while the session was not in front does not count")
  func enteredAgainElsewhere() {
    var known = KnownStates(presence: .inFront)
    _ = known.take(told(modes(1, "off", "busy", keyboardSince: 10)))
    _ = known.take(.absent(.locked))
    // The changes in between were missed: the time of entering tells them.
    _ = known.take(.missed(2))
    _ = known.take(told(modes(3, "off", "busy", keyboardSince: 30)))
    #expect(known.take(.inFront)?.states?[.keyboard] == nil)
  }

  @Test("a state that lasted while the session was not in front counts again")
  func lasting() {
    var known = KnownStates(presence: .inFront)
    _ = known.take(told(modes(1, "off", "busy", keyboardSince: 10)))
    _ = known.take(.absent(.locked))
    _ = known.take(.disconnected(.connectionLost))
    _ = known.take(told(modes(1, "off", "busy", keyboardSince: 10)))
    #expect(known.take(.inFront)?.states?[.keyboard] == "busy")
  }

  @Test("the states that are found while the session is locked count after the next change")
  func foundWhileLocked() {
    for isStateFirst in [true, false] {
      var known = KnownStates(presence: nil)
      if isStateFirst { _ = known.take(told(start)) }
      _ = known.take(.absent(.locked))
      if !isStateFirst { _ = known.take(told(start)) }
      #expect(known.take(.inFront)?.states?[.keyboard] == nil)
      let change = change(5, .keyboard, "idle", "busy")
      #expect(known.take(.change(change))?.states?[.keyboard] == "busy")
    }
  }

  @Test(
    "the states that are found before it is known that the session is locked do not count either",
    arguments: [SessionPresence.Reason.inactive, .noAnswer, .noSession])
  func foundBeforeLocked(_ reason: SessionPresence.Reason) {
    var known = KnownStates(presence: nil)
    _ = known.take(.absent(reason))
    _ = known.take(told(start))
    _ = known.take(.absent(.locked))
    let states = known.take(.inFront)?.states
    #expect(states != nil)
    #expect(states?[.shift] == nil && states?[.keyboard] == nil)
  }

  @Test("states that were found in front, or in the background alone, count")
  func foundElsewhere() {
    var front = KnownStates(presence: .inFront)
    _ = front.take(told(start))
    _ = front.take(.absent(.inactive))
    _ = front.take(.absent(.locked))
    #expect(front.take(.inFront)?.states?[.keyboard] == "idle")
    var back = KnownStates(presence: nil)
    _ = back.take(.absent(.inactive))
    _ = back.take(told(start))
    #expect(back.take(.inFront)?.states?[.keyboard] == "idle")
    _ = back.take(.absent(.locked))
    #expect(back.take(.inFront)?.states?[.keyboard] == "idle")
  }

  @Test("states found after the session was in front, but before it is locked, do not count")
  func foundAfterFront() {
    var known = KnownStates(presence: .inFront)
    _ = known.take(.disconnected(.connectionLost))
    _ = known.take(.absent(.inactive))
    _ = known.take(told(start))
    _ = known.take(.absent(.locked))
    #expect(known.take(.inFront)?.states?[.keyboard] == nil)
  }

  @Test("another reason why the session is not in front makes nothing known")
  func otherReason() {
    var known = KnownStates(presence: .inFront)
    #expect(known.take(.absent(.inactive)) == .unknown(.sessionNotInFront(.inactive)))
    #expect(known.take(.absent(.locked)) == nil)
  }
}

extension Occurrence {
  fileprivate var states: CountedStates? {
    if case .states(let states, _) = self { states } else { nil }
  }
}
