import KeyboardModes
import StateMachines
import Testing

@Suite("Keyboard rules")
struct KeyboardRulesTests {
  /// The table under "Keyboard" in docs/configuration.md: one row per event, `/` where the event is
  /// ignored.
  static let table = """
    event             prepareToEditText prepareToRecord editingText       showingPanel
    clickSwitchButton prepareToRecord   editingText     prepareToRecord   prepareToRecord
    clickMoreButton   showingPanel      showingPanel    showingPanel      prepareToEditText
    tapTextField      editingText       /               /                 editingText
    tapBlankArea      /                 /               prepareToEditText prepareToEditText
    """

  struct Entry: Sendable, CustomTestStringConvertible {
    let state: KeyboardRules.State
    let event: KeyboardRules.Event
    let next: KeyboardRules.State?
    var testDescription: String { "\(state) + \(event)" }
  }

  static let entries: [Entry] = {
    let rows = table.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    return rows.dropFirst().flatMap { row in
      zip(rows[0], row).dropFirst().compactMap { state, next -> Entry? in
        guard let state = KeyboardRules.State(rawValue: state),
          let event = KeyboardRules.Event(rawValue: row[0])
        else { return nil }
        return Entry(state: state, event: event, next: KeyboardRules.State(rawValue: next))
      }
    }
  }()

  @Test("every event leads from every state to the state in the table", arguments: entries)
  func next(_ entry: Entry) {
    #expect(KeyboardRules().next(entry.state, on: entry.event) == entry.next)
  }

  @Test("the expected table covers every pair of state and event")
  func complete() {
    #expect(Self.entries.count == 16)
    #expect(Set(Self.entries.map(\.testDescription)).count == 16)
  }

  @Test("a transition table with the same rows is the same machine")
  func table() throws {
    let rows = Self.entries.compactMap { entry in
      entry.next.map { TransitionTable.Row(entry.state, entry.event, $0) }
    }
    let table = try TransitionTable(
      states: KeyboardRules.State.allCases, initial: .prepareToEditText, rows: rows)
    for entry in Self.entries {
      #expect(table.next(entry.state, on: entry.event) == entry.next, "\(entry)")
    }
    #expect(table.initial == KeyboardRules().initial)
    let arrows = Set(Diagram(of: table).arrows)
    #expect(arrows == Set(Diagram(of: KeyboardRules()).arrows))
  }

  @Test("the initial state is prepareToEditText")
  func initial() {
    #expect(KeyboardRules().initial == .prepareToEditText)
  }
}
