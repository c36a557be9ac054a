import ObservedMachines
import StateMachines
import Testing

/// Keeps the notes.
final class NoteStore {
  var notes: [Note]

  init(_ notes: [Note]) { self.notes = notes }
}

/// Knows the list, the editor and the store, none of which knows another, and undoes changes.
final class Coordinator {
  let list: ObservedMachine<NoteList>
  private(set) var editor: ObservedMachine<NoteEditor>?

  private let store: NoteStore
  private var past: [[Note]] = []
  private var future: [[Note]] = []

  init(_ store: NoteStore) {
    self.store = store
    list = ObservedMachine(NoteList(notes: store.notes))
    list.after { [unowned self] step in
      switch (step.event, step.to) {
      case (.selected(let note), _): edit(note)
      case (.deleted, .browsing(let notes)): change(to: notes)
      case (.changed, .showing(let note, _)): editor?.send(.changed(note))
      case (_, .browsing): editor?.send(.closed)
      case (_, .showing): break
      }
    }
  }

  private func edit(_ note: Note) {
    let editor = ObservedMachine(NoteEditor(note: note))
    editor.after { [unowned self] step in
      switch (step.event, step.to) {
      case (.typed, .editing(let note)):
        change(to: store.notes.map { $0.id == note.id ? note : $0 })
      case (_, .closed):
        self.editor = nil
        list.send(.deselected)
      case (_, .editing): break
      }
    }
    self.editor = editor
  }

  /// Changes the notes everywhere.
  private func change(to notes: [Note]) {
    past.append(store.notes)
    future = []
    show(notes)
  }

  private func show(_ notes: [Note]) {
    store.notes = notes
    list.send(.changed(notes))
  }

  /// Undoes the last change of the list or the editor. Returns whether there was one.
  @discardableResult
  func undo() -> Bool {
    guard let notes = past.popLast() else { return false }
    future.append(store.notes)
    show(notes)
    return true
  }

  /// Does again what was undone last. Returns whether there was something.
  @discardableResult
  func redo() -> Bool {
    guard let notes = future.popLast() else { return false }
    past.append(store.notes)
    show(notes)
    return true
  }
}

@Suite("Example: coordinator")
struct CoordinatorTests {
  private let milk = Note(id: 1, text: "milk")
  private let bread = Note(id: 2, text: "bread")
  private let store: NoteStore

  init() { store = NoteStore([milk, bread]) }

  /// What the store has, what the list shows, and what is edited.
  private func expect(
    _ coordinator: Coordinator, _ notes: [String], edits text: String? = nil,
    at location: SourceLocation = #_sourceLocation
  ) {
    #expect(store.notes.map(\.text) == notes, sourceLocation: location)
    switch coordinator.list.state {
    case .browsing(let listed):
      #expect(listed.map(\.text) == notes, sourceLocation: location)
      #expect(coordinator.editor == nil && text == nil, sourceLocation: location)
    case .showing(let note, let listed):
      #expect(listed.map(\.text) == notes, sourceLocation: location)
      #expect(note.text == text, sourceLocation: location)
      #expect(coordinator.editor?.state == .editing(note), sourceLocation: location)
    }
  }

  @Test("selecting a note opens it in an editor, and either of them can close it")
  func selecting() async throws {
    let coordinator = Coordinator(store)
    expect(coordinator, ["milk", "bread"])
    coordinator.list.send(.selected(bread))
    expect(coordinator, ["milk", "bread"], edits: "bread")
    let states = try #require(coordinator.editor).states
    coordinator.editor?.send(.closed)
    expect(coordinator, ["milk", "bread"])
    var last: NoteEditor.State?
    for await state in states { last = state }
    #expect(last == .closed, "an editor that is closed has ended, and its states with it")

    coordinator.list.send(.selected(milk))
    expect(coordinator, ["milk", "bread"], edits: "milk")
    coordinator.list.send(.deselected)
    expect(coordinator, ["milk", "bread"])
  }

  @Test("undo and redo change an open editor, and editing goes on from there")
  func undoingWhileEditing() {
    let coordinator = Coordinator(store)
    coordinator.list.send(.selected(milk))
    coordinator.editor?.send(.typed("oat"))
    coordinator.editor?.send(.typed("oat milk"))
    #expect(coordinator.undo())
    expect(coordinator, ["oat", "bread"], edits: "oat")
    #expect(coordinator.redo())
    expect(coordinator, ["oat milk", "bread"], edits: "oat milk")
    #expect(coordinator.undo() && coordinator.undo())
    expect(coordinator, ["milk", "bread"], edits: "milk")
    coordinator.editor?.send(.typed("cream"))
    expect(coordinator, ["cream", "bread"], edits: "cream")
    #expect(!coordinator.redo(), "a new change clears what was undone")
    #expect(coordinator.undo())
    expect(coordinator, ["milk", "bread"], edits: "milk")
    #expect(!coordinator.undo(), "what redo brought back is not counted twice")
  }
}
