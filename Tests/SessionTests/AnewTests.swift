import KeyboardModes
import KeymodeClient
import System
import TestSupport
import Testing
import Wire

@testable import Session

/// What reaches `while`.
private enum Input {
  /// The states of the keyboard and of Shift, as they are found.
  case found(String, String = "off")
  /// A change of the keyboard into a state.
  case keyboard(String)
  /// A change of Shift into a state.
  case shift(String)
  case missed
  case lost(ClientError)
  case front
  case absent(SessionPresence.Reason)
}

private let entered = WhileCommandRules.Event.entered
private let left = WhileCommandRules.Event.left

/// What happens, and what the conditions make of each input: with `--anew`, and without.
private struct AnewCase: CustomTestStringConvertible {
  let testDescription: String
  let conditions: [String]
  let steps: [(Input, WhileCommandRules.Event?, WhileCommandRules.Event?)]

  init(
    _ name: String, of conditions: [String] = ["keyboard=talking,open,closing"],
    _ steps: (Input, anew: WhileCommandRules.Event?, otherwise: WhileCommandRules.Event?)...
  ) {
    (testDescription, self.conditions, self.steps) = (name, conditions, steps)
  }

  /// What each step makes.
  func events(requiresEntry: Bool) throws -> [WhileCommandRules.Event?] {
    var known = KnownStates(presence: .inFront)
    let conditions = try #require(try StateConditions(conditions))
    var held = HeldConditions(conditions, requiresEntry: requiresEntry)
    var sequence: Int64 = 1
    return steps.map { step in
      sequence += 1
      let time = Time(microseconds: sequence)
      func change(_ machine: MachineName, _ state: String) -> Update {
        .change(
          Change(
            sequence: sequence, time: time, machine: machine, from: "x", to: state, event: "press"))
      }
      let update =
        switch step.0 {
        case .found(let keyboard, let shift):
          known.handle(
            .states(
              StateMessage(
                instance: "i", time: time,
                states: States(
                  sequence: sequence, shift: shift, shiftSince: nil, keyboard: keyboard,
                  keyboardSince: nil))))
        case .keyboard(let state): known.handle(change(.keyboard, state))
        case .shift(let state): known.handle(change(.shift, state))
        case .missed: known.handle(.missed(3))
        case .lost(let error): known.handle(.disconnected(error))
        case .front: known.handle(.inFront)
        case .absent(let reason): known.handle(.absent(reason))
        }
      return update.flatMap { held.handle($0) }
    }
  }
}

private let cases: [AnewCase] = [
  .init(
    "entered while connected",
    (.found("silent"), nil, nil), (.keyboard("talking"), entered, entered),
    (.keyboard("silent"), left, left), (.keyboard("open"), entered, entered)),
  .init(
    "entered before the start",
    (.found("open"), nil, entered), (.keyboard("silent"), nil, left),
    (.keyboard("talking"), entered, entered)),
  .init(
    "entered before a lock, which ends it",
    (.found("silent"), nil, nil), (.keyboard("open"), entered, entered),
    (.absent(.locked), left, left), (.front, nil, entered), (.shift("on"), nil, nil),
    (.keyboard("silent"), nil, left), (.keyboard("open"), entered, entered)),
  .init(
    "entered while locked",
    (.found("silent"), nil, nil), (.absent(.locked), nil, nil), (.keyboard("open"), nil, nil),
    (.front, nil, nil), (.keyboard("silent"), nil, nil), (.keyboard("open"), entered, entered)),
  .init(
    "entered before another session was in front",
    (.found("silent"), nil, nil), (.keyboard("open"), entered, entered),
    (.absent(.inactive), left, left), (.front, nil, entered), (.keyboard("talking"), entered, nil)),
  .init(
    "found open after a lock: the next state of the set counts",
    (.found("open"), nil, entered), (.absent(.locked), nil, left), (.front, nil, entered),
    (.keyboard("closing"), entered, nil), (.keyboard("silent"), left, left)),
  .init(
    "entered before a sleep, and between its announcement and its end",
    (.found("silent"), nil, nil), (.keyboard("open"), entered, entered),
    (.absent(.asleep), left, left), (.keyboard("closing"), nil, nil), (.front, nil, nil),
    (.keyboard("open"), entered, entered)),
  .init(
    "entered before a reconnection, and meanwhile",
    (.found("silent"), nil, nil), (.keyboard("open"), entered, entered),
    (.lost(.connectionLost), left, left), (.keyboard("closing"), nil, nil),
    (.found("closing"), nil, entered), (.keyboard("talking"), entered, nil)),
  .init(
    "entered before permission was denied, and given back",
    (.found("silent"), nil, nil), (.keyboard("open"), entered, entered),
    (.lost(.permissionDenied(path: "", group: nil)), left, left), (.found("open"), nil, entered),
    (.keyboard("closing"), entered, nil)),
  .init(
    "missed while the command runs, and while it does not",
    (.found("silent"), nil, nil), (.keyboard("open"), entered, entered), (.missed, nil, nil),
    (.found("open"), left, nil), (.keyboard("silent"), nil, left), (.missed, nil, nil),
    (.found("open"), nil, entered), (.keyboard("closing"), entered, nil)),
  .init(
    "each of several machines must have entered its state", of: ["keyboard=open", "shift=on"],
    (.found("open", "on"), nil, entered), (.shift("off"), nil, left), (.shift("on"), nil, entered),
    (.keyboard("silent"), nil, left), (.keyboard("open"), entered, entered)),
]

@Suite("Session: only what is entered anew")
struct AnewTests {
  @Test("a state counts only if its entering was seen", arguments: cases)
  fileprivate func anew(_ one: AnewCase) throws {
    #expect(try one.events(requiresEntry: true) == one.steps.map(\.1))
    #expect(try one.events(requiresEntry: false) == one.steps.map(\.2))
  }
}
