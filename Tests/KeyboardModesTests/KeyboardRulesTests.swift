import KeyboardModes
import StateMachines
import Testing

@Suite("The rules of the keyboard")
struct KeyboardRulesTests {
  /// The table of the design, as it stands there: a row for each event, `/` for ignored.
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

  @Test("hold in every state for every event", arguments: entries)
  func next(_ entry: Entry) {
    #expect(KeyboardRules().next(entry.state, on: entry.event) == entry.next)
  }

  @Test("are tested for every pair")
  func complete() {
    #expect(Self.entries.count == 16)
    #expect(Set(Self.entries.map(\.testDescription)).count == 16)
  }

  @Test("are the same machine as a table")
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

  @Test("start in prepareToEditText")
  func initial() {
    #expect(KeyboardRules().initial == .prepareToEditText)
  }
}
