import Foundation
import KeyboardModes
import StateMachines
import TestSupport
import Testing

/// Where a machine differs from its source.
private struct Difference: Hashable, CustomStringConvertible {
  let machine, cell, source, here: String

  var description: String { "| \(machine) | \(cell) | \(source) | \(here) |" }
}

/// Compares the machines of the examples with the tables of their sources, cell by cell.
private final class Comparison {
  private(set) var cells = 0
  private(set) var differences: [Difference] = []
  private(set) var compared: Set<String> = []

  /// Notes the differences of cells that `here` computes from the numbers of the state and the event.
  private func compare(
    _ table: String, as name: String, _ initial: String, _ here: (Int, Int) -> String
  ) throws {
    let table = try #require(SourceTable.all.first { $0.name == table })
    compared.insert(table.name)
    cells += 1
    note(name, "the first state", table.initial, initial)
    for (event, row) in table.rows.enumerated() {
      try #require(row.next.count == table.states.count, "\(name), \(row.event)")
      for (state, next) in row.next.enumerated() {
        cells += 1
        note(name, "\(table.states[state]) + \(row.event)", next, here(state, event))
      }
    }
  }

  private func note(_ machine: String, _ cell: String, _ source: String, _ here: String) {
    guard source != here else { return }
    differences.append(Difference(machine: machine, cell: cell, source: source, here: here))
  }

  /// Compares rules; the states and events are those of the table, in its order.
  func compare<R: DrawableRules>(
    _ table: String, _ rules: R, as name: String? = nil, states: [R.State]? = nil,
    events: [R.Event]? = nil
  ) throws {
    let name = name ?? table
    let (states, events) = (states ?? rules.states, events ?? rules.samples.map(\.event))
    try compare(table, as: name, rules.name(of: rules.initial)) { state, event in
      rules.next(states[state], on: events[event]).map(rules.name(of:)) ?? "/"
    }
    // What the source does not have.
    let names = Set(events.map(rules.name(ofEvent:)))
    for event in rules.eventNames where !names.contains(event) {
      note(name, "the event \(event)", "/", "exists")
    }
    let known = Set(states.map(rules.name(of:)))
    for state in rules.stateNames where !known.contains(state) {
      note(name, "the state \(state)", "/", "exists")
    }
  }

  /// Compares which states can be entered from which.
  func compareEntering<R: DrawableRules>(_ name: String, _ rules: R, states: [[R.State]]) throws {
    try compare(name, as: name, rules.name(of: rules.initial)) { from, to in
      let answers = states[from].map { StateMachine(rules, in: $0).canEnter(states[to][0]) }
      return Set(answers) == [true] ? "yes" : Set(answers) == [false] ? "no" : "depends"
    }
  }
}

@Suite("The sources of the machines")
struct SourceTests {
  @Test("every cell is that of the source, or declared in docs/state-machines.md")
  func cells() throws {
    let comparison = Comparison()
    let (one, two) = (Article(title: "one"), Article(title: "two"))
    try comparison.compare("turnstile", Turnstile())
    try comparison.compare("fridge", Fridge())
    try comparison.compare("fridge with fast cooling and a door", BetterFridge())
    try comparison.compare(
      "fridge with a door", FridgeWithDoor(), states: [.idle, .cooling, .doorOpened],
      events: [.becameWarm, .becameCold, .doorOpened, .doorClosed])
    try comparison.compare("program", Program.rules())
    try comparison.compare("role of objects", roleOfObjects { _ in }.rules)
    try comparison.compare("role of rows", roleOfRows { _ in }.rules)
    try comparison.compare("edit form", EditForm())
    try comparison.compare("check-in list", CheckinList())
    try comparison.compare("check-in list of a user", UserCheckinList())
    try comparison.compare("check-in list", LiteralCheckinList(), as: "check-in list, literal")
    try comparison.compare(
      "check-in list of a user", LiteralUserCheckinList(), as: "check-in list of a user, literal")
    try comparison.compare(
      "news list", NewsList(),
      states: [
        .empty, .loading, .articles([one]), .articles([one, two]), .error(NewsError.offline),
      ],
      events: [
        .refreshed, .received([one]), .failed(NewsError.offline), .deletedRow(0), .deletedRow(1),
        .dismissed, .retried,
      ])
    let lists = [[], [one], [one, two]].map(NewsList.State.articles)
    try comparison.compareEntering(
      "states that follow in the news list", NewsList(),
      states: [[.empty], [.loading], lists, [.error(NewsError.offline)]])
    let notes = [Note(id: 1, text: "milk"), Note(id: 2, text: "bread")]
    try comparison.compare(
      "list of notes", NoteList(notes: notes),
      states: [.browsing(notes), .showing(notes[0], of: notes)],
      events: [
        .selected(notes[0]), .deselected, .deleted(notes[0]),
        .changed([Note(id: 1, text: "cream"), notes[1]]),
      ])
    try comparison.compare("editor of a note", NoteEditor(note: notes[0]))
    try comparison.compare(
      "keyboard of a chat", CompiledTable.shipped,
      events: [.clickSwitchButton, .clickMoreButton, .tapTextField, .tapBlankArea])
    let start = Time(microseconds: 10_000_000)
    let presses = [0, 499_000, 500_000, -400_000, -500_000].map {
      ShiftRules.Event.shiftPressed(at: Time(microseconds: start.microseconds + $0))
    }
    try comparison.compare(
      "Shift", ShiftRules(timeout: .seconds(3)), states: [.off, .on(since: start), .capsLock],
      events: presses + [.characterTyped])
    #expect(comparison.compared == Set(SourceTable.all.map(\.name)))

    let declared = try declared()
    let undeclared = comparison.differences.filter { !declared.contains($0) }
    print(
      "\(comparison.compared.count) machines, \(comparison.cells) cells:",
      "\(comparison.differences.count) different, \(undeclared.count) undeclared")
    #expect(undeclared == [])
    #expect(declared.subtracting(comparison.differences) == [], "declared, but no longer there")
    #expect(comparison.cells > 250)
  }

  /// The differences in the table of the page: machine, cell, source, here, why.
  private func declared() throws -> Set<Difference> {
    let page = try String(contentsOfFile: "\(checkout)/docs/state-machines.md", encoding: .utf8)
    let row = /\n\| ([^|`]*) \| `([^|`]*)` \| `([^|`]*)` \| `([^|`]*)` \|/
    return Set(
      page.replacing("\n", with: "\n\n").matches(of: row).map {
        Difference(
          machine: String($0.1), cell: String($0.2), source: String($0.3), here: String($0.4))
      })
  }
}
