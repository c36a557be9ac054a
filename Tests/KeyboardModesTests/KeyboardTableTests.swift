import KeyboardModes
import StateMachines
import Testing

@Suite("Keyboard table")
struct KeyboardTableTests {
  /// The shipped table with one more state and event.
  private let more: KeyboardTable

  /// A table that has only one of the shipped events.
  private let other: KeyboardTable

  init() throws {
    more = KeyboardTable(
      try .init(
        states: KeyboardTable.standard.stateNames + ["showingStickers"], initial: "editingText",
        events: KeyboardTable.standard.eventNames + ["clickStickerButton"],
        rows: KeyboardTable.standard.rows + [
          .init("editingText", "clickStickerButton", "showingStickers"),
          .init("showingStickers", "tapBlankArea", "prepareToEditText"),
        ]))
    other = KeyboardTable(
      try .init(
        states: ["idle", "talking"], initial: "idle", events: ["pushToTalk", "tapBlankArea"],
        rows: [.init("idle", "pushToTalk", "talking"), .init("talking", "tapBlankArea", "idle")]))
  }

  /// The table under "Keyboard" in docs/configuration.md: one row per event, `/` where the event is
  /// ignored.
  static let shipped = """
    event             prepareToEditText prepareToRecord editingText       showingPanel
    clickSwitchButton prepareToRecord   editingText     prepareToRecord   prepareToRecord
    clickMoreButton   showingPanel      showingPanel    showingPanel      prepareToEditText
    tapTextField      editingText       /               /                 editingText
    tapBlankArea      /                 /               prepareToEditText prepareToEditText
    """

  @Test("every event of the standard table leads from every state to the state in the table")
  func shipped() throws {
    let table = KeyboardTable.standard
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
    let events: [KeyboardTable.Event] = [
      .clickSwitchButton, .clickMoreButton, .tapTextField, .tapBlankArea,
    ]
    #expect(events == table.events)
  }

  @Test("a table has its own rows and no others")
  func rows() throws {
    for table in [more, other] {
      for state in table.states {
        for event in table.eventNames {
          let expected = table.rows.first { $0.state == table.name(of: state) && $0.event == event }
          let next = table.next(state, on: try #require(table.event(named: event)))
          #expect(next.map(table.name(of:)) == expected?.next)
        }
      }
    }
    #expect(other.rows.count == 2)
    #expect(more.rows.count == KeyboardTable.standard.rows.count + 2)
    #expect(other.event(named: "clickMoreButton") == nil)
    #expect(other.next(other.initial, on: .clickMoreButton) == nil)
    #expect(other.eventNames == ["pushToTalk", "tapBlankArea"])
    #expect(other.samples.map { other.name(ofEvent: $0.event) } == other.eventNames)
    let sticker = try #require(more.event(named: "clickStickerButton"))
    #expect(KeyboardTable.standard.next(KeyboardTable.standard.initial, on: sticker) == nil)
  }

  @Test("a row that leads to its own state is a change")
  func ownState() throws {
    let table = KeyboardTable(
      try .init(
        states: ["quiet"], initial: "quiet", events: ["shout"],
        rows: [KeyboardTable.Row("quiet", "shout", "quiet")]))
    var timeline = Timeline(Settings(keyboard: table, bindings: Bindings()))
    let shout = try #require(table.event(named: "shout"))
    timeline.take(.client(.keyboard(shout), at: Time(microseconds: 7)))
    #expect(
      timeline.changes == [
        Change(
          sequence: 1, time: Time(microseconds: 7), machine: .keyboard, from: "quiet", to: "quiet",
          event: "shout")
      ])
    #expect(timeline.controller.modes.keyboardSince == Time(microseconds: 7))
  }

  @Test("keys and clients send a table's events by name")
  func drives() throws {
    var settings = Settings(keyboard: more)
    _ = settings.bindings.bind(
      try Chord([try #require(KeyCode(name: "KEY_F5"))]),
      to: try #require(more.event(named: "clickStickerButton")))
    var timeline = Timeline(settings)
    #expect(timeline.controller.modes.keyboard == "editingText")
    try timeline.play("F5 F5 ESC")
    let event = try #require(ClientEvent(name: "tapTextField", in: more))
    timeline.take(.client(event, at: timeline.time))
    #expect(timeline.changes.map(\.to) == ["showingStickers", "prepareToEditText", "editingText"])
    #expect(
      timeline.changes.map(\.event) == ["clickStickerButton", "tapBlankArea", "tapTextField"])
    #expect(ClientEvent(name: "clickStickerButton") == nil)
    #expect(ClientEvent(name: "clickMoreButton", in: other) == nil)
  }

  @Test("a reload keeps the present state if the new table has its name")
  func keepsState() throws {
    var timeline = Timeline(Settings(keyboard: more))
    try timeline.play("ESC")
    timeline.take(.configured(Settings(), at: Time(microseconds: 9_000_000)))
    #expect(timeline.changes.map(\.to) == ["prepareToEditText"])
    #expect(timeline.controller.modes.keyboard == "prepareToEditText")
  }

  @Test("a reload that removes the present state changes to the new table's initial state")
  func resets() throws {
    var timeline = Timeline()
    try timeline.play("INSERT")
    timeline.take(.configured(Settings(keyboard: other), at: Time(microseconds: 9_000_000)))
    let last = try #require(timeline.changes.last)
    #expect(
      last
        == Change(
          sequence: 2, time: Time(microseconds: 9_000_000), machine: .keyboard,
          from: "editingText", to: "idle", event: "configured"))
    #expect(timeline.controller.modes.keyboard == "idle")
    #expect(timeline.controller.modes.keyboardSince == Time(microseconds: 9_000_000))
    #expect(timeline.controller.modes.sequence == 2)
  }

  @Test("a resumed table keeps the state by name, or changes to its initial state")
  func resumes() throws {
    var timeline = Timeline()
    try timeline.play("INSERT")
    let snapshot = timeline.controller.snapshot
    func resume(_ table: KeyboardTable) -> (Modes, [Change]) {
      var controller = Controller(settings: Settings(keyboard: table))
      let changes = controller.resume(
        snapshot, changedLast: timeline.time, at: Time(microseconds: 7))
      return (controller.modes, changes)
    }
    let same = resume(more)
    #expect(same.0 == timeline.controller.modes)
    #expect(same.1.isEmpty)
    let (modes, changes) = resume(other)
    #expect(modes.keyboard == "idle")
    #expect(modes.keyboardSince == Time(microseconds: 7))
    #expect(modes.sequence == 2)
    #expect(
      changes == [
        Change(
          sequence: 2, time: Time(microseconds: 7), machine: .keyboard, from: "editingText",
          to: "idle", event: "configured")
      ])
  }
}
