import KeyboardModes
import KeymodeClient
import System
import Terminal
import TestSupport
import Testing
import Wire

@testable import Session

/// What becomes known to ``KnownStates``.
enum KnownInput {
  case states(States)
  case shift(Int64, String)
  case keyboard(Int64, String)
  case missed
  case lost
  case front
  case absent(SessionPresence.Reason)
}

/// The states after the change with this number, and when they were entered.
private func states(
  _ sequence: Int64, _ shift: String, _ shiftSince: Int64?, _ keyboard: String,
  _ keyboardSince: Int64?
) -> KnownInput {
  .states(
    States(
      sequence: sequence, shift: shift, shiftSince: shiftSince.map(Time.init(microseconds:)),
      keyboard: keyboard, keyboardSince: keyboardSince.map(Time.init(microseconds:))))
}

private let start = states(4, "off", 1, "idle", nil)

extension KnownStates {
  /// Handles an input; `-` if it makes nothing known.
  fileprivate mutating func told(_ input: KnownInput) -> String {
    let update: StatesUpdate? =
      switch input {
      case .states(let states):
        handle(.states(StateMessage(instance: "i", time: Time(microseconds: 0), states: states)))
      case .shift(let sequence, let state): handle(.change(change(sequence, .shift, state)))
      case .keyboard(let sequence, let state): handle(.change(change(sequence, .keyboard, state)))
      case .missed: handle(.missed(nil))
      case .lost: handle(.disconnected(.connectionLost))
      case .front: handle(.inFront)
      case .absent(let reason): handle(.absent(reason))
      }
    switch update {
    case .states(let states, let change):
      // A state that does not count is "?", and a change is marked.
      let texts = [MachineName.shift, .keyboard].map { machine -> String in
        let since = machine == .shift ? states.states.shiftSince : states.states.keyboardSince
        return states[machine].map { $0 + (since.map { "@\($0.microseconds)" } ?? "") } ?? "?"
      }
      return texts.joined(separator: " ") + (change.map { " by \($0.machine)" } ?? "")
    case .unknown(.noDaemon(let error)): return error == .connectionLost ? "away" : "\(error)"
    case .unknown(.sessionNotInFront(let reason)):
      return reason == .locked ? "locked" : reason == .inactive ? "inactive" : "elsewhere"
    case nil: return "-"
    }
  }

  private func change(_ sequence: Int64, _ machine: MachineName, _ state: String) -> Change {
    Change(
      sequence: sequence, time: Time(microseconds: sequence * 10), machine: machine, from: "x",
      to: state, event: "e")
  }
}

/// What is known of the session at first, what then happens, and what each input makes known.
struct KnownTimeline: CustomTestStringConvertible {
  let testDescription: String
  let presence: SessionPresence?
  let steps: [(KnownInput, String)]

  init(_ name: String, _ presence: SessionPresence?, _ steps: (KnownInput, String)...) {
    (testDescription, self.presence, self.steps) = (name, presence, steps)
  }
}

private let locked = KnownInput.absent(.locked)
private let inactive = KnownInput.absent(.inactive)
private let busy = states(1, "off", nil, "busy", 10)

private let timelines = [
  KnownTimeline(
    "the states come first, and then each change with the states after it", .inFront,
    (start, "off@1 idle"), (.shift(5, "on"), "on@50 idle by shift"),
    (.keyboard(6, "busy"), "on@50 busy@60 by keyboard")),
  KnownTimeline(
    "missed changes are told as the states after them", .inFront,
    (start, "off@1 idle"), (.missed, "-"), (states(17, "on", 2, "busy", 3), "on@2 busy@3")),
  KnownTimeline(
    "changes while the daemon was away are part of the states that follow them", .inFront,
    (start, "off@1 idle"), (.lost, "away"), (.shift(5, "on"), "-"), (.missed, "-"),
    (states(5, "on", 50, "idle", nil), "on@50 idle")),
  KnownTimeline("an absent daemon is told at the start", .inFront, (.lost, "away")),
  KnownTimeline(
    "while the session is not in front, nothing is told but that, once", .inFront,
    (start, "off@1 idle"), (locked, "locked"), (locked, "-"), (.keyboard(5, "busy"), "-"),
    (.lost, "-"), (start, "-"), (.keyboard(5, "busy"), "-"), (.front, "off@1 ?"), (.front, "-")),
  KnownTimeline(
    "a session that comes back to an absent daemon is told that", .absent(.locked),
    (.lost, "-"), (.front, "away"), (locked, "locked")),
  KnownTimeline("no state before the session is known", nil, (start, "-"), (.front, "off@1 idle")),
  KnownTimeline("no state before the daemon is known", nil, (.front, "-"), (start, "off@1 idle")),
  KnownTimeline("a session that is not in front", nil, (start, "-"), (locked, "locked")),
  KnownTimeline("no state while it is not in front", nil, (locked, "locked"), (start, "-")),
  KnownTimeline(
    "a state that was entered while the session was not in front counts after the next change",
    .inFront, (start, "off@1 idle"), (inactive, "inactive"), (.keyboard(5, "busy"), "-"),
    (.front, "off@1 ?"), (.shift(6, "on"), "on@60 ? by shift"),
    (.keyboard(7, "idle"), "on@60 idle@70 by keyboard")),
  KnownTimeline(
    "a state that was left and entered again meanwhile does not count, by its time", .inFront,
    (busy, "off busy@10"), (locked, "locked"), (.missed, "-"),
    (states(3, "off", nil, "busy", 30), "-"), (.front, "off ?")),
  KnownTimeline(
    "a state that lasted while the session was not in front counts again", .inFront,
    (busy, "off busy@10"), (locked, "locked"), (.lost, "-"), (busy, "-"), (.front, "off busy@10")),
  KnownTimeline(
    "the states that are found before a lock count after the next change", nil,
    (start, "-"), (locked, "locked"), (.front, "? ?"),
    (.keyboard(5, "busy"), "? busy@50 by keyboard")
  ),
  KnownTimeline(
    "the states that are found while the session is locked do, too", nil,
    (locked, "locked"), (start, "-"), (.front, "? ?"),
    (.keyboard(5, "busy"), "? busy@50 by keyboard")),
  KnownTimeline(
    "the states that are found in the background count, unless the session proves to be locked",
    nil, (.absent(.noSession), "elsewhere"), (start, "-"), (locked, "-"), (.front, "? ?")),
  KnownTimeline(
    "states that were found in front count", .inFront,
    (start, "off@1 idle"), (inactive, "inactive"), (locked, "-"), (.front, "off@1 idle")),
  KnownTimeline(
    "states that were found in the background alone count", nil,
    (inactive, "inactive"), (start, "-"), (.front, "off@1 idle"), (locked, "locked"),
    (.front, "off@1 idle")),
  KnownTimeline(
    "states found after the session was in front, but before it is locked, do not count", .inFront,
    (.lost, "away"), (inactive, "inactive"), (start, "-"), (locked, "-"), (.front, "? ?")),
]

@Suite("Session: known states")
struct KnownStatesTests {
  @Test("each input makes this known", arguments: timelines)
  func timeline(_ timeline: KnownTimeline) {
    var known = KnownStates(presence: timeline.presence)
    for (place, (input, told)) in timeline.steps.enumerated() {
      #expect(known.told(input) == told, "step \(place)")
    }
  }

  @Test("a lock that changes while the session is not in front counts after its next change")
  func locks() {
    var known = KnownStates(presence: .inFront)
    func caps(_ update: StatesUpdate?) -> String? {
      if case .states(let states, _) = update { states[.caps] ?? "?" } else { nil }
    }
    func change(_ sequence: Int64, _ state: String) -> Update {
      .change(
        Change(
          sequence: sequence, time: Time(microseconds: sequence), machine: .caps, from: "x",
          to: state, event: "e"))
    }
    let states = States(
      sequence: 1, shift: "off", shiftSince: nil, keyboard: "a", keyboardSince: nil,
      locks: LockStates(caps: .off))
    let message = StateMessage(instance: "i", time: Time(microseconds: 0), states: states)
    #expect(caps(known.handle(.states(message))) == "off")
    #expect(caps(known.handle(change(2, "on"))) == "on")
    #expect(caps(known.handle(.absent(.locked))) == nil)
    #expect(caps(known.handle(.inFront)) == "on", "as before")
    _ = known.handle(.absent(.locked))
    #expect(caps(known.handle(change(3, "off"))) == nil)
    #expect(caps(known.handle(.inFront)) == "?")
    #expect(caps(known.handle(change(4, "on"))) == "on")
  }

  @Test(
    "a command that waits for a session says what else the user may do",
    arguments: [
      (.noSeat, "waiting for it; '--any-session' does not"), (.inactive, "waiting for it"),
      (.noSession, "waiting for it; '--any-session' does not"),
      (.locked, "waiting until it is unlocked"), (.asleep, "waiting until it wakes up"),
      (.noAnswer, "waiting for it"),
    ] as [(SessionPresence.Reason, TerminalText)])
  func outlook(_ reason: SessionPresence.Reason, _ text: TerminalText) {
    #expect(StatesUpdate.Reason.sessionNotInFront(reason).waitingText == text)
  }
}
