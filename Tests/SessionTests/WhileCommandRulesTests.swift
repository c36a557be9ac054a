import Session
import Glibc
import KeyboardModes
import System
import StateMachines
import Terminal
import TestSupport
import Testing

@testable import Session

private func states(_ shift: String, _ keyboard: String, shiftSince: Int64? = nil) -> States {
  States(
    sequence: 1, shift: shift, shiftSince: shiftSince.map(Time.init(microseconds:)),
    keyboard: keyboard, keyboardSince: nil)
}

@Suite("Session: rules of a command")
struct WhileCommandRulesTests {
  typealias State = WhileCommandRules.State
  typealias Action = WhileCommandRules.Action

  /// Each state; and for each event (entered, left, ended, quit) the next state with its action,
  /// `nil` where it is ignored.
  private static let table: [(State, [(State, Action?)?])] = [
    (.waiting, [(.running, .start), nil, nil, (.finished, .finish)]),
    (.running, [nil, (.ending(again: false), .end), (.waiting, nil), (.quitting, .end)]),
    (
      .ending(again: false),
      [(.ending(again: true), nil), nil, (.waiting, nil), (.quitting, .end)]
    ),
    (
      .ending(again: true),
      [nil, (.ending(again: false), nil), (.running, .start), (.quitting, .end)]
    ),
    (.quitting, [nil, nil, (.finished, .finish), nil]),
    (.finished, [nil, nil, nil, nil]),
  ]

  /// The rows that differ for a command that runs once.
  private static let onceTable: [(State, [(State, Action?)?])] = [
    (.running, [nil, (.ending(again: false), .end), (.finished, .finish), (.quitting, .end)]),
    (.ending(again: false), [nil, nil, (.finished, .finish), (.quitting, .end)]),
  ]

  @Test("each state does with each event what the table says", arguments: [false, true])
  func transitions(_ runsOnce: Bool) {
    let rules = WhileCommandRules(runsOnce: runsOnce)
    for (state, row) in runsOnce ? Self.onceTable : Self.table {
      for (event, expected) in zip(WhileCommandRules.Event.allCases, row) {
        let next = rules.next(state, on: event)
        #expect(next == expected?.0, "\(state), \(event)")
        #expect(
          next.flatMap { rules.action(from: state, to: $0) } == expected?.1, "\(state), \(event)")
      }
    }
  }

  @Test(
    "an outcome has the exit status that shells give it",
    arguments: [
      (.ended(.exited(7)), 7), (.ended(.signalled(SIGKILL)), 137), (.failed(ENOENT), 127),
      (.failed(EACCES), 126),
      (.failed(E2BIG), 126),
    ] as [(CommandOutcome, Int32)])
  func exitStatus(_ outcome: CommandOutcome, _ status: Int32) {
    #expect(outcome.exitStatus == status)
  }
}

@Suite("Session: held conditions")
struct HeldConditionsTests {
  private let conditions: StateConditions
  private let change = Change(
    sequence: 1, time: Time(microseconds: 50), machine: .shift, from: "off", to: "on",
    event: "shiftPressed")

  init() throws {
    conditions = try #require(try StateConditions(["keyboard=a", "shift=on,capsLock"]))
  }

  @Test("conditions begin once and cease once, whatever happens in between")
  func edges() {
    var held = HeldConditions(conditions)
    #expect(held.handle(.states(EffectiveStates(states("off", "a")), change: nil)) == nil)
    let on = states("on", "a", shiftSince: 50)
    let entering = StartReason(on, by: change, else: .keyboard)
    #expect(held.handle(.states(EffectiveStates(on), change: change)) == .entered)
    #expect(held.handle(.states(EffectiveStates(states("capsLock", "a")), change: change)) == nil)
    #expect(held.handle(.states(EffectiveStates(states("on", "a")), change: nil)) == nil)
    #expect(held.startReason == entering)
    #expect(held.handle(.states(EffectiveStates(states("on", "b")), change: change)) == .left)
    #expect(held.startReason == nil)
    #expect(held.handle(.states(EffectiveStates(states("off", "b")), change: change)) == nil)
  }

  @Test(
    "unknown states hold nothing",
    arguments: [.noDaemon(.connectionLost), .sessionNotInFront(.locked)] as [StatesUpdate.Reason])
  func unknown(_ reason: StatesUpdate.Reason) {
    var held = HeldConditions(conditions)
    #expect(held.handle(.unknown(reason)) == nil)
    _ = held.handle(.states(EffectiveStates(states("on", "a")), change: nil))
    #expect(held.handle(.unknown(reason)) == .left)
    #expect(held.handle(.unknown(reason)) == nil)
    #expect(held.handle(.states(EffectiveStates(states("on", "a")), change: nil)) == .entered)
    #expect(held.startReason == StartReason(states("on", "a"), by: nil, else: .keyboard))
  }

  @Test("a state that counts as left holds nothing")
  func elsewhere() {
    var held = HeldConditions(conditions)
    let effective = EffectiveStates(states("on", "a"), enteredElsewhere: [.keyboard])
    #expect(held.handle(.states(effective, change: nil)) == nil)
    #expect(held.handle(.states(EffectiveStates(states("on", "a")), change: change)) != nil)
  }

  @Test("the environment tells of the change, or of the machine that was named first")
  func environment() {
    let capsOn = Change(
      sequence: 1, time: Time(microseconds: 7), machine: .caps, from: "off", to: "on",
      event: "ledOn")
    func variables(_ entering: StartReason) -> [String] {
      entering.variables.map { "\($0.name)=\($0.value)" }
    }
    #expect(
      variables(StartReason(states("on", "a", shiftSince: 50), by: change, else: .keyboard)) == [
        "KEYMODE_MACHINE=shift", "KEYMODE_STATE=on", "KEYMODE_EVENT=shiftPressed",
        "KEYMODE_TIME=50", "KEYMODE_SHIFT=on", "KEYMODE_KEYBOARD=a", "KEYMODE_CAPS=unknown",
        "KEYMODE_NUM=unknown",
      ])
    #expect(
      variables(StartReason(states("on", "a"), by: nil, else: .keyboard)) == [
        "KEYMODE_MACHINE=keyboard", "KEYMODE_STATE=a", "KEYMODE_EVENT=", "KEYMODE_TIME=",
        "KEYMODE_SHIFT=on", "KEYMODE_KEYBOARD=a", "KEYMODE_CAPS=unknown", "KEYMODE_NUM=unknown",
      ])
    let on = States(
      sequence: 1, shift: "off", shiftSince: nil, keyboard: "a", keyboardSince: nil,
      locks: LockStates(caps: .on))
    #expect(
      variables(StartReason(on, by: capsOn, else: .keyboard)) == [
        "KEYMODE_MACHINE=caps", "KEYMODE_STATE=on", "KEYMODE_EVENT=ledOn", "KEYMODE_TIME=7",
        "KEYMODE_SHIFT=off", "KEYMODE_KEYBOARD=a", "KEYMODE_CAPS=on", "KEYMODE_NUM=unknown",
      ])
  }
}
