import StateMachines
import Testing

@testable import Acting

@Suite("Acting: rules of a run")
struct RunRulesTests {
  typealias State = RunRules.State

  private static let rules = RunRules(grace: 3000)

  private static let events: [RunRules.Event] = [
    .started, .endOrdered(at: 100), .firstEnded(at: 100), .deadlineCame, .allEnded,
  ]

  /// Every state with every event; `nil` where the event is ignored.
  private static let table: [(State, [State?])] = [
    (.idle, [.running, nil, nil, nil, nil]),
    (.running, [nil, .ending(deadline: 3100), .ending(deadline: 3100), nil, nil]),
    (.ending(deadline: 7), [nil, nil, nil, .killing, .idle]),
    (.killing, [nil, nil, nil, nil, .idle]),
  ]

  @Test("each state does with each event what the table says", arguments: table)
  func transitions(_ state: State, _ row: [State?]) {
    for (event, next) in zip(Self.events, row) {
      #expect(Self.rules.next(state, on: event) == next, "\(state), \(event)")
    }
  }

  @Test("a grace without an end has no deadline that overflows")
  func overflow() {
    let rules = RunRules(grace: .max)
    #expect(rules.next(.running, on: .endOrdered(at: 1)) == .ending(deadline: .max))
  }
}
