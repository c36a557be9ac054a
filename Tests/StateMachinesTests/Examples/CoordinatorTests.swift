import ObservedMachines
import StateMachines
import Testing

/// Keeps the notes.
final class NoteStore {
  var notes: [Note]

  init(_ notes: [Note]) { self.notes = notes }
}

/// A button in the bar of a screen: a value, which a test can compare.
struct BarItem<Event: Hashable>: Hashable {
  let title: String
  let event: Event
}

extension NoteList.State {
  var barItems: [BarItem<NoteList.Event>] {
    switch self {
    case .browsing(let notes):
      notes.map { BarItem(title: "Delete \($0.text)", event: .deleted($0)) }
    case .showing: [BarItem(title: "Back", event: .deselected)]
    }
  }
}

extension NoteEditor.State {
  var barItems: [BarItem<NoteEditor.Event>] {
    switch self {
    case .editing: [BarItem(title: "Close", event: .closed)]
    case .closed: []
    }
  }
}

/// Drives one screen, that of these rules, and tells its owner of each step.
final class ScreenCoordinator<R: Rules> {
  fileprivate let machine: ObservedMachine<R>
  var state: R.State { machine.state }

  init(_ rules: R, owner: @escaping (ObservedMachine<R>.Step) -> Void) {
    machine = ObservedMachine(rules)
    machine.after(owner)
  }

  func send(_ event: R.Event) { machine.send(event) }
}

extension ScreenCoordinator where R.State: Sendable {
  var states: AsyncStream<R.State> { machine.states }
}

/// Owns the coordinators of the list and of the editor, neither of which knows the other or the
/// store, and undoes changes.
final class Coordinator {
  private(set) lazy var list = ScreenCoordinator(NoteList(notes: store.notes)) {
    [unowned self] step in
    switch (step.event, step.to) {
    case (.selected(let note), _): edit(note)
    case (.deleted, .browsing(let notes)): change(to: notes)
    case (.changed, .showing(let note, _)): editor?.send(.changed(note))
    case (_, .browsing): editor?.send(.closed)
    case (_, .showing): break
    }
  }
  private(set) var editor: ScreenCoordinator<NoteEditor>?

  private let store: NoteStore
  private var past: [[Note]] = []
  private var future: [[Note]] = []

  init(_ store: NoteStore) { self.store = store }

  private func edit(_ note: Note) {
    editor = ScreenCoordinator(NoteEditor(note: note)) { [unowned self] step in
      switch (step.event, step.to) {
      case (.typed, .editing(let note)):
        change(to: store.notes.map { $0.id == note.id ? note : $0 })
      case (_, .closed):
        editor = nil
        list.send(.deselected)
      case (_, .editing): break
      }
    }
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

  @Test("the items of a bar are values, and pressing one sends its event")
  func barItems() throws {
    let coordinator = Coordinator(store)
    let items = coordinator.list.state.barItems
    #expect(
      items == [
        BarItem(title: "Delete milk", event: .deleted(milk)),
        BarItem(title: "Delete bread", event: .deleted(bread)),
      ])
    coordinator.list.send(items[0].event)
    expect(coordinator, ["bread"])
    coordinator.list.send(.selected(bread))
    #expect(coordinator.list.state.barItems.map(\.title) == ["Back"])
    let close = try #require(coordinator.editor?.state.barItems.first)
    coordinator.editor?.send(close.event)
    expect(coordinator, ["bread"])
    #expect(NoteEditor.State.closed.barItems == [])
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
