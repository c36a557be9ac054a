import StateMachines
import Testing

/// What is stored, listed and edited.
struct Note: Hashable {
  let id: Int
  var text: String
}

/// A list of notes, which shows all, or one of them.
struct NoteList: DrawableRules {
  enum State: Hashable { case browsing([Note]), showing(Note, of: [Note]) }
  enum Event: Hashable { case selected(Note), deselected, deleted(Note), changed([Note]) }

  var notes: [Note]

  var initial: State { .browsing(notes) }

  func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.browsing(let notes), .selected(let note)):
      notes.contains(note) ? .showing(note, of: notes) : nil
    case (.browsing(let notes), .deleted(let note)):
      notes.contains(note) ? .browsing(notes.filter { $0 != note }) : nil
    case (.browsing(let notes), .changed(let newer)): newer == notes ? nil : .browsing(newer)
    case (.browsing, .deselected): nil

    case (.showing(_, let notes), .deselected): .browsing(notes)
    case (.showing(let note, _), .changed(let newer)):
      newer.first { $0.id == note.id }.map { .showing($0, of: newer) } ?? .browsing(newer)
    case (.showing, .selected), (.showing, .deleted): nil
    }
  }
}

/// An editor of one note. It ends when it is closed.
struct NoteEditor: DrawableRules {
  enum State: Hashable { case editing(Note), closed }
  enum Event: Hashable { case typed(String), changed(Note), closed }

  var note: Note

  var initial: State { .editing(note) }
  var finalStates: [State] { [.closed] }

  func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.editing(let note), .typed(let text)):
      text == note.text ? nil : .editing(Note(id: note.id, text: text))
    case (.editing(let note), .changed(let newer)): newer == note ? nil : .editing(newer)
    case (.editing, .closed): .closed
    case (.closed, .typed), (.closed, .changed), (.closed, .closed): nil
    }
  }
}

extension NoteList {
  var states: [State] { [.browsing(notes)] + notes.prefix(1).map { .showing($0, of: notes) } }

  var samples: [Sample<Event>] {
    guard let first = notes.first else { return [] }
    let edited = [Note(id: first.id, text: "edited")] + notes.dropFirst()
    return [
      Sample(.selected(first)), Sample(.deselected), Sample(.deleted(first)),
      Sample(.changed(edited), where: "has the note"), Sample(.changed([]), where: "without it"),
    ]
  }
}

extension NoteEditor {
  var states: [State] { [.editing(note), .closed] }

  var samples: [Sample<Event>] {
    [Sample(.typed("typed")), Sample(.changed(Note(id: note.id, text: "new"))), Sample(.closed)]
  }
}

@Suite("Example: list and editor of notes")
struct NoteListTests {
  private let milk = Note(id: 1, text: "milk")
  private let bread = Note(id: 2, text: "bread")

  private func steps(of rules: some DrawableRules, pairs: Int) -> [String] {
    StateMachinesTests.steps(of: rules, pairs: pairs).map {
      $0.replacing(/Note\(id: \d, text: "(\w+)"\)/) { $0.1 }
    }
  }

  @Test("the list follows its table")
  func list() throws {
    let rules = NoteList(notes: [milk, bread])
    #expect(
      steps(of: rules, pairs: 10) == [
        "browsing([milk, bread]) + selected(milk) → showing(milk, of: [milk, bread])",
        "browsing([milk, bread]) + deleted(milk) → browsing([bread])",
        "browsing([milk, bread]) + changed([edited, bread]) → browsing([edited, bread])",
        "browsing([milk, bread]) + changed([]) → browsing([])",
        "showing(milk, of: [milk, bread]) + deselected → browsing([milk, bread])",
        "showing(milk, of: [milk, bread]) + changed([edited, bread]) → "
          + "showing(edited, of: [edited, bread])",
        "showing(milk, of: [milk, bread]) + changed([]) → browsing([])",
      ])
    let edited = Note(id: 1, text: "edited")
    #expect(rules.next(rules.initial, on: .selected(edited)) == nil, "it is not listed")
    #expect(rules.next(rules.initial, on: .deleted(edited)) == nil, "it is not listed")
    #expect(rules.next(rules.initial, on: .changed([milk, bread])) == nil, "nothing changes")
    try expectSound(rules, diagram: "note-list")
  }

  @Test("the editor follows its table, and ends")
  func editor() throws {
    let rules = NoteEditor(note: milk)
    #expect(
      steps(of: rules, pairs: 6) == [
        "editing(milk) + typed(\"typed\") → editing(typed)",
        "editing(milk) + changed(new) → editing(new)", "editing(milk) + closed → closed",
      ])
    #expect(rules.next(rules.initial, on: .typed("milk")) == nil, "nothing changes")
    #expect(rules.next(rules.initial, on: .changed(milk)) == nil, "nothing changes")
    #expect(StateMachine(rules, in: .closed).isFinal && !StateMachine(rules).isFinal)
    try expectSound(rules, diagram: "note-editor")
  }
}
