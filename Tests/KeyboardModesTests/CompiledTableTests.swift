import KeyboardModes
import StateMachines
import TestSupport
import Testing

@Suite("Keyboard table")
struct CompiledTableTests {
  /// The shipped table with one more state and event.
  private let more: CompiledTable

  /// A table that has only one of the shipped events.
  private let other: CompiledTable

  init() throws {
    more = CompiledTable(
      try .init(
        states: CompiledTable.shipped.stateNames + ["showingStickers"], initial: "editingText",
        events: CompiledTable.shipped.eventNames + ["clickStickerButton"],
        rows: CompiledTable.shipped.rows + [
          .init("editingText", "clickStickerButton", "showingStickers"),
          .init("showingStickers", "tapBlankArea", "prepareToEditText"),
        ]))
    other = CompiledTable(
      try .init(
        states: ["idle", "talking"], initial: "idle", events: ["pushToTalk", "tapBlankArea"],
        rows: [.init("idle", "pushToTalk", "talking"), .init("talking", "tapBlankArea", "idle")]))
  }

  /// The table under "Keyboard" in docs/configuration.md, but with a row for each event, and `/` where
  /// the event is ignored.
  static let shipped = """
    event             prepareToEditText prepareToRecord editingText       showingPanel
    clickSwitchButton prepareToRecord   editingText     prepareToRecord   prepareToRecord
    clickMoreButton   showingPanel      showingPanel    showingPanel      prepareToEditText
    tapTextField      editingText       /               /                 editingText
    tapBlankArea      /                 /               prepareToEditText prepareToEditText
    """

  @Test("every event of the shipped table leads from every state to the state in the table")
  func shipped() throws {
    let table = CompiledTable.shipped
    let lines = Self.shipped.split(separator: "\n").map {
      $0.split(separator: " ").map(String.init)
    }
    let (states, rows) = (Array(lines[0].dropFirst()), lines.dropFirst())
    #expect((table.stateNames, table.eventNames) == (states, rows.map { $0[0] }))
    #expect(table.name(of: table.initial) == "prepareToEditText")
    for row in rows {
      for (state, expected) in zip(table.states, row.dropFirst()) {
        let next = table.next(state, on: try #require(table.event(named: row[0])))
        #expect(next.map(table.name(of:)) ?? "/" == expected, "\(row[0]) in \(state)")
      }
    }
    let events: [CompiledTable.Event] = [
      .clickSwitchButton, .clickMoreButton, .tapTextField, .tapBlankArea,
    ]
    #expect(events == table.events)
  }

  @Test("a table ignores an event that only another table has")
  func otherEvents() throws {
    let sticker = try #require(more.event(named: "clickStickerButton"))
    #expect(CompiledTable.shipped.next(CompiledTable.shipped.initial, on: sticker) == nil)
    #expect(other.next(other.initial, on: .clickMoreButton) == nil)
  }

  @Test("a row that leads to its own state is a change")
  func ownState() throws {
    let table = CompiledTable(
      try .init(
        states: ["quiet"], initial: "quiet", events: ["shout"],
        rows: [CompiledTable.Row("quiet", "shout", "quiet")]))
    var timeline = Timeline(Settings(keyboard: table, bindings: Bindings()))
    let shout = try #require(table.event(named: "shout"))
    timeline.handle(.client(.keyboard(shout), at: Time(microseconds: 7)))
    #expect(
      timeline.changes == [
        Change(
          sequence: 1, time: Time(microseconds: 7), machine: .keyboard, from: "quiet", to: "quiet",
          event: "shout")
      ])
    #expect(timeline.controller.states.keyboardSince == Time(microseconds: 7))
  }

  @Test("a reload keeps the present state if the new table has its name")
  func keepsState() throws {
    var timeline = Timeline(Settings(keyboard: more))
    try timeline.play("ESC")
    timeline.handle(.configured(Settings(), at: Time(microseconds: 9_000_000)))
    #expect(timeline.changes.map(\.to) == ["prepareToEditText"])
    #expect(timeline.controller.states.keyboard == "prepareToEditText")
  }

  @Test("a reload that removes the present state changes to the new table's initial state")
  func resets() throws {
    var timeline = Timeline()
    try timeline.play("INSERT")
    timeline.handle(.configured(Settings(keyboard: other), at: Time(microseconds: 9_000_000)))
    let last = try #require(timeline.changes.last)
    #expect(
      last
        == Change(
          sequence: 2, time: Time(microseconds: 9_000_000), machine: .keyboard,
          from: "editingText", to: "idle", event: "configured"))
    #expect(timeline.controller.states.keyboard == "idle")
    #expect(timeline.controller.states.keyboardSince == Time(microseconds: 9_000_000))
    #expect(timeline.controller.states.sequence == 2)
  }
}
