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

  @Test("the list follows its table")
  func list() throws {
    let rules = NoteList(notes: [milk, bread])
    let edited = Note(id: 1, text: "edited")
    let (browsing, showing) = (rules.initial, NoteList.State.showing(milk, of: [milk, bread]))
    let rows: [(NoteList.State, NoteList.Event, NoteList.State?)] = [
      (browsing, .selected(milk), showing), (browsing, .deselected, nil),
      (browsing, .deleted(milk), .browsing([bread])),
      (browsing, .changed([edited, bread]), .browsing([edited, bread])),
      (browsing, .changed([]), .browsing([])),
      (showing, .selected(milk), nil), (showing, .deselected, browsing),
      (showing, .deleted(milk), nil),
      (showing, .changed([edited, bread]), .showing(edited, of: [edited, bread])),
      (showing, .changed([]), .browsing([])),
    ]
    #expect(rows.map(\.0) == rules.states.flatMap { Array(repeating: $0, count: 5) })
    #expect(rows.map(\.1) == rules.states.flatMap { _ in rules.samples.map(\.event) })
    for (state, event, next) in rows {
      #expect(rules.next(state, on: event) == next, "\(state) + \(event)")
    }
    #expect(rules.next(browsing, on: .selected(edited)) == nil, "it is not listed")
    #expect(rules.next(browsing, on: .deleted(edited)) == nil, "it is not listed")
    #expect(rules.next(browsing, on: .changed([milk, bread])) == nil, "nothing changes")
    try expectSound(rules, diagram: "note-list")
  }

  @Test("the editor follows its table, and ends")
  func editor() throws {
    let rules = NoteEditor(note: milk)
    let (editing, newer) = (rules.initial, Note(id: 1, text: "new"))
    let rows: [(NoteEditor.State, NoteEditor.Event, NoteEditor.State?)] = [
      (editing, .typed("typed"), .editing(Note(id: 1, text: "typed"))),
      (editing, .changed(newer), .editing(newer)), (editing, .closed, .closed),
      (.closed, .typed("typed"), nil), (.closed, .changed(newer), nil), (.closed, .closed, nil),
    ]
    #expect(rows.map(\.0) == rules.states.flatMap { Array(repeating: $0, count: 3) })
    #expect(rows.map(\.1) == rules.states.flatMap { _ in rules.samples.map(\.event) })
    for (state, event, next) in rows {
      #expect(rules.next(state, on: event) == next, "\(state) + \(event)")
    }
    #expect(rules.next(editing, on: .typed("milk")) == nil, "nothing changes")
    #expect(rules.next(editing, on: .changed(milk)) == nil, "nothing changes")
    #expect(StateMachine(rules, in: .closed).isFinal && !StateMachine(rules).isFinal)
    try expectSound(rules, diagram: "note-editor")
  }
}
