import StateMachines
import Testing

@Suite("Transition table")
struct TransitionTableTests {
  typealias Table = TransitionTable<String, String>

  private func table(_ rows: [(String, String, String)]) throws(Table.TableError) -> Table {
    try Table(states: ["locked", "unlocked"], initial: "locked", rows: rows)
  }

  private let rows = [("locked", "coin", "unlocked"), ("unlocked", "push", "locked")]

  @Test("a table has the transitions of its rows and no others")
  func rules() throws {
    let turnstile = try table(rows)
    #expect(StateMachinesTests.table(of: turnstile) == StateMachinesTests.table(of: Turnstile()))
    try expectSound(turnstile, diagram: "turnstile")
    #expect(turnstile.next("locked", on: "kick") == nil)
    #expect(turnstile.next("broken", on: "coin") == nil)
  }

  @Test("a second row for one state and event is refused, naming both rows")
  func twoRows() {
    let error = Table.TableError.twoRows(
      .init("locked", "coin", "unlocked"), .init("locked", "coin", "locked"))
    #expect(throws: error) { try table(rows + [("locked", "coin", "locked")]) }
  }

  @Test("a state, a final state or an event that is not listed is refused, and so is a name of two")
  func unknownNames() {
    func expectError(
      _ error: Table.TableError, _ row: Table.Row, states: [String] = ["locked", "unlocked"],
      initial: String = "locked", finalStates: [String] = []
    ) {
      #expect(throws: error) {
        try Table(
          states: states, initial: initial, finalStates: finalStates, events: ["coin", "push"],
          rows: [.init("locked", "coin", "unlocked"), row])
      }
    }
    let good = Table.Row("unlocked", "push", "locked")
    expectError(.sameName("locked", "locked"), good, states: ["locked", "unlocked", "locked"])
    expectError(.unknownInitialState("new"), good, initial: "new")
    expectError(.unknownFinalState("gone"), good, finalStates: ["gone"])
    for row in [("locked", "push", "broken"), ("broken", "push", "locked")]
      as [(String, String, String)]
    {
      let row = Table.Row(row.0, row.1, row.2)
      expectError(.unknownState("broken", in: row), row)
    }
    let kick = Table.Row("unlocked", "kick", "locked")
    expectError(.unknownEvent("kick", in: kick), kick)
  }

  @Test("events keep their order, and unreachable states can be allowed")
  func allowed() throws {
    let table = try Table(
      states: ["locked", "unlocked"], initial: "locked", events: ["push", "coin"],
      rows: [.init("unlocked", "push", "locked")], allowsUnreachable: true)
    #expect(table.eventNames == ["push", "coin"])
    #expect(table.unreachableStates == ["unlocked"])
  }

  @Test("different payloads make different states and events")
  func payloads() throws {
    enum Level: Hashable { case level(Int) }
    enum Step: Hashable { case by(Int) }
    let table = try TransitionTable<Level, Step>(
      states: [.level(1), .level(2), .level(3)], initial: .level(1),
      rows: [
        (.level(1), .by(1), .level(2)), (.level(1), .by(2), .level(3)),
        (.level(2), .by(1), .level(3)), (.level(3), .by(-2), .level(1)),
      ])
    #expect(table.stateNames == ["level(1)", "level(2)", "level(3)"])
    try expectSound(table, diagram: "levels")
  }

  @Test("an unreachable state is refused")
  func unreachable() {
    #expect(throws: Table.TableError.unreachableState("unlocked")) {
      try table([("unlocked", "push", "locked")])
    }
    #expect(throws: TransitionTable<String, Int>.TableError.unreachableState("b")) {
      try TransitionTable(
        states: ["a", "b", "c"], initial: "a", rows: [("b", 1, "c"), ("c", 1, "b"), ("b", 2, "a")])
    }
  }
}
