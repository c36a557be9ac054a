import StateMachines
import Testing

@Suite("Transition table")
struct TransitionTableTests {
  typealias Table = TransitionTable<String, String>

  private func table(_ rows: [(String, String, String)]) throws(Table.Fault) -> Table {
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
    let fault = Table.Fault.twoRows(
      .init("locked", "coin", "unlocked"), .init("locked", "coin", "locked"))
    #expect(throws: fault) { try table(rows + [("locked", "coin", "locked")]) }
  }

  @Test("all faults are found, and a row with an unknown name counts for no pair")
  func faults() {
    let rows: [Table.Row] = [
      .init("locked", "coin", "unlocked"), .init("locked", "coin", "broken"),
      .init("unlocked", "kick", "locked"), .init("locked", "coin", "locked"),
      .init("broken", "push", "locked"),
    ]
    let found = Table.faults(
      states: ["locked", "unlocked", "locked"], initial: "new", finalStates: ["gone"],
      events: ["coin", "push", "coin"], rows: rows)
    #expect(
      found == [
        .sameName("locked", "locked"), .repeatedEvent("coin"), .unknownInitialState("new"),
        .unknownFinalState("gone"), .unknownState("broken", in: rows[1]),
        .unknownEvent("kick", in: rows[2]), .twoRows(rows[0], rows[3]),
        .unknownState("broken", in: rows[4]),
      ])
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
    #expect(table.deadStates == [])
    try expectSound(table, diagram: "levels")
  }

  @Test("an unreachable state is refused")
  func unreachable() {
    #expect(throws: Table.Fault.unreachableState("unlocked")) {
      try table([("unlocked", "push", "locked")])
    }
    #expect(throws: TransitionTable<String, Int>.Fault.unreachableState("b")) {
      try TransitionTable(
        states: ["a", "b", "c"], initial: "a", rows: [("b", 1, "c"), ("c", 1, "b"), ("b", 2, "a")])
    }
  }
}
