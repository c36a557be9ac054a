import Evdev
import KeyboardModes
import Testing

private let first = DeviceID(order: 0)
private let second = DeviceID(order: 1)

/// A table with an event for each use, each of which always changes the state, so that every event can
/// be seen.
let usesTable: KeyboardTable = {
  let names = ["press", "tap", "hold", "release", "other"]
  let states = names.flatMap { ["\($0)1", "\($0)2"] }
  let rows = states.flatMap { state in
    names.map { KeyboardTable.Row(state, $0, state == "\($0)1" ? "\($0)2" : "\($0)1") }
  }
  do {
    return KeyboardTable(
      try .init(states: states, initial: "other1", events: names, rows: rows))
  } catch { fatalError("\(error)") }
}()

/// Settings with these chords and their uses, each bound to the event that is named as the use.
func usesSettings(
  _ chords: [(keys: String, use: Use)], debounce: Duration = .zero,
  table: KeyboardTable = usesTable
) throws -> Settings {
  var bindings = Bindings()
  for (keys, use) in chords {
    let name =
      switch use {
      case .press: "press"
      case .tap: "tap"
      case .hold: "hold"
      case .release: "release"
      }
    let chord = try Chord(keys.split(separator: "+").map { try key(String($0)) })
    let event = try #require(table.event(named: name))
    #expect(bindings.bind(chord, use, to: event) == nil)
  }
  return Settings(keyboard: table, bindings: bindings, debounce: debounce)
}

/// The events of the keyboard machine with their times in microseconds: `press 0`.
func keyboardEvents(_ timeline: Timeline) -> [String] {
  timeline.changes.filter { $0.machine == .keyboard }
    .map { "\($0.event) \($0.time.microseconds)" }
}

/// The same of a line, after which a second passes.
private func keyboardEvents(_ line: String, _ settings: Settings) throws -> [String] {
  var timeline = Timeline(settings)
  try timeline.play("\(line) 1000")
  timeline.passTime()
  return keyboardEvents(timeline)
}

private let all: [(String, Use)] = [
  ("F9", .press), ("F9", .tap), ("F9", .hold(.milliseconds(300))), ("F9", .release),
]

@Suite("Controller: uses of a chord")
struct UsesTests {
  @Test(
    "each use alone sends its event at its time",
    arguments: [
      (Use.press, "10 F9+ 20 F9-", ["press 10000"]), (.release, "10 F9+ 20 F9-", ["release 30000"]),
      (.release, "10 F9+", []), (.tap, "10 F9+ 20 F9-", ["tap 30000"]), (.tap, "10 F9+", []),
      (.hold(.milliseconds(300)), "10 F9+", ["hold 310000"]),
      (.hold(.milliseconds(300)), "10 F9+ 20 F9-", []),
      (.hold(.microseconds(1)), "10 F9+ 1us F9-", ["hold 10001"]),
      (.hold(.nanoseconds(1500)), "10 F9+ 9 F9-", ["hold 10002"]),
    ])
  func alone(_ use: Use, _ line: String, _ expected: [String]) throws {
    #expect(try keyboardEvents(line, usesSettings([("F9", use)])) == expected)
  }

  @Test(
    "all uses of one chord, to the microsecond",
    arguments: [
      ("F9+ 199_999us F9-", ["press 0", "tap 199999", "release 199999"]),
      ("F9+ 200_000us F9-", ["press 0", "release 200000"]),
      ("F9+ 299_999us F9-", ["press 0", "release 299999"]),
      ("F9+ 300_000us F9-", ["press 0", "hold 300000", "release 300000"]),
      ("F9+ 700 F9-", ["press 0", "hold 300000", "release 700000"]),
      ("F9+ 500 F9* 33 F9* F9-", ["press 0", "hold 300000", "release 533000"]),
      ("F9+ 10 A 10 F9-", ["press 0", "release 20000"]),
      ("F9+ 10 2:A 10 F9-", ["press 0", "release 20000"]),
      ("F9+ 10 LEFTSHIFT 10 F9-", ["press 0", "release 20000"]),
      ("F9+ 10 RIGHTALT 10 F9-", ["press 0", "release 20000"]),
      ("F9+ 10 BTN_TOUCH 10 F9-", ["press 0", "tap 20000", "release 20000"]),
      ("A+ F9+ 10 A* A- 10 F9-", ["press 0", "tap 20000", "release 20000"]),
      ("F9+ 10 A+ 400 F9-", ["press 0", "hold 300000", "release 410000"]),
    ])
  func shared(_ line: String, _ expected: [String]) throws {
    #expect(try keyboardEvents(line, usesSettings(all)) == expected)
  }

  @Test("there is no tap after a hold, even in less time than a tap takes")
  func noTapAfterHold() throws {
    let settings = try usesSettings([("F9", .tap), ("F9", .hold(.milliseconds(100)))])
    #expect(try keyboardEvents("F9+ 99_999us F9-", settings) == ["tap 99999"])
    #expect(try keyboardEvents("F9+ 100_000us F9-", settings) == ["hold 100000"])
    #expect(try keyboardEvents("F9+ 150 F9-", settings) == ["hold 100000"])
  }

  @Test("a chord with any use types nothing, and takes Shift back")
  func bound() throws {
    for use in [Use.press, .release, .tap, .hold(.seconds(1))] {
      var settings = try usesSettings([("A", use)])
      #expect(try states("LEFTSHIFT A+ 250 A*", settings).first == "on")
      var timeline = Timeline(settings)
      try timeline.play("LEFTSHIFT A+ 250 A* A-")
      #expect(timeline.controller.modes.shift == "on")
      settings = try usesSettings([("LEFTSHIFT+A", use)])
      timeline = Timeline(settings)
      try timeline.play("LEFTSHIFT+ A")
      #expect(timeline.controller.modes.shift == "off")
    }
  }

  @Test("what matters is the press that matched the chord, not what is held at the release")
  func modifiers() throws {
    let settings = try usesSettings([
      ("LEFTCTRL+F9", .release), ("F9", .press), ("LEFTALT+F9", .tap),
    ])
    #expect(try keyboardEvents("LEFTCTRL+ 5 F9+ LEFTCTRL- 5 F9-", settings) == ["release 10000"])
    #expect(try keyboardEvents("F9+ LEFTCTRL+ 5 F9-", settings) == ["press 0"])
    #expect(try keyboardEvents("LEFTALT+ F9+ LEFTALT- 5 F9-", settings) == ["tap 5000"])
    #expect(try keyboardEvents("LEFTMETA+ F9+ LEFTMETA- 5 F9-", settings) == [])
  }

  @Test("one chord with one use has one event, and other uses may have others")
  func conflicts() throws {
    var bindings = Bindings()
    let chord = try Chord([key("F9")])
    let uses: [Use] = [.press, .release, .hold(.seconds(1)), .tap]
    let events: [KeyboardTable.Event] = [
      .tapTextField, .tapBlankArea, .clickMoreButton, .clickSwitchButton,
    ]
    for (use, event) in zip(uses, events) { #expect(bindings.bind(chord, use, to: event) == nil) }
    for (use, event) in zip(uses, events) {
      #expect(bindings.bind(chord, use, to: .tapTextField) == event)
    }
    #expect(bindings.bind(chord, .hold(.seconds(2)), to: .tapTextField) == .clickMoreButton)
    #expect(bindings[chord]?.events.map(\.use) == [.press, .tap, .hold(.seconds(1)), .release])
    bindings.unbind(.tapBlankArea)
    #expect(bindings[chord]?.release == nil)
    #expect(bindings[chord]?.press == .tapTextField)
    for event in events { bindings.unbind(event) }
    #expect(bindings[chord] == nil)
  }

  @Test("a second press of a key whose release was not seen first ends its use, without a tap")
  func pressedAgain() throws {
    #expect(
      try keyboardEvents("F9+ 50 F9+ 50 F9-", usesSettings(all))
        == ["press 0", "release 50000", "press 50000", "tap 100000", "release 100000"])
    let settings = try usesSettings([("LEFTCTRL+A", .release)])
    #expect(try keyboardEvents("LEFTCTRL+ A+ LEFTCTRL- 50 A+ 50 A-", settings) == ["release 50000"])
    let inert = try usesSettings([("LEFTCTRL+BTN_SOUTH", .release)])
    #expect(
      try keyboardEvents("LEFTCTRL+ BTN_SOUTH+ LEFTCTRL- 50 BTN_SOUTH+ 50 BTN_SOUTH-", inert)
        == ["release 50000"])
    #expect(
      try keyboardEvents("F9+ 50 2:F9+ 50 F9- 50 2:F9-", usesSettings([("F9", .release)]))
        == ["release 100000", "release 150000"], "each device has its own use of the key")
  }

  @Test("a press found by a sync sends its event, and has neither hold nor tap")
  func sync() throws {
    var timeline = Timeline(try usesSettings(all))
    timeline.take(.synchronized(first, try differences("F9+"), at: timeline.time))
    try timeline.play("400 F9-")
    #expect(keyboardEvents(timeline) == ["press 0", "release 400000"])
    timeline.take(.synchronized(first, try differences("F9+"), at: timeline.time))
    try timeline.play("10 F9-")
    #expect(keyboardEvents(timeline).suffix(2) == ["press 400000", "release 410000"])
  }

  @Test("a sync that finds the key up sends the release at its time, and no tap")
  func foundUp() throws {
    var timeline = Timeline(try usesSettings(all))
    try timeline.play("F9+ 50")
    timeline.take(.synchronized(first, try differences("F9-"), at: timeline.time))
    #expect(keyboardEvents(timeline) == ["press 0", "release 50000"])
    try timeline.play("F9-")
    #expect(keyboardEvents(timeline).count == 2)
    // A sync of any device may have lost other keys.
    for device in [first, second] {
      var timeline = Timeline(try usesSettings(all))
      try timeline.play("F9+ 50")
      timeline.take(.synchronized(device, [], at: timeline.time))
      try timeline.play("F9-")
      #expect(keyboardEvents(timeline) == ["press 0", "release 50000"])
    }
  }

  @Test("the tap timeout of the settings decides")
  func tapTimeout() throws {
    var settings = try usesSettings([("F9", .tap)])
    settings.tapTimeout = .milliseconds(50)
    #expect(try keyboardEvents("F9+ 49_999us F9-", settings) == ["tap 49999"])
    #expect(try keyboardEvents("F9+ 50_000us F9-", settings) == [])
  }

  @Test("a hold is a deadline, and comes before an event of the same time")
  func deadline() throws {
    var timeline = Timeline(try usesSettings(all))
    #expect(timeline.controller.deadline == nil)
    try timeline.play("F9+")
    #expect(timeline.controller.deadline == Time(microseconds: 300_000))
    try timeline.play("299_999us")
    timeline.passTime()
    #expect(keyboardEvents(timeline) == ["press 0"])
    try timeline.play("1us A")
    #expect(keyboardEvents(timeline) == ["press 0", "hold 300000"])
    #expect(timeline.controller.deadline == nil)
    // Of two holds the earlier comes first, whichever was pressed first.
    let two = try usesSettings([
      ("F9", .hold(.milliseconds(300))), ("F10", .hold(.milliseconds(100))),
    ])
    #expect(try keyboardEvents("F9+ 50 F10+", two) == ["hold 150000", "hold 300000"])
  }

  @Test("of two holds that are due at the same time, that of the earlier press comes first")
  func dueTogether() throws {
    func bound(_ first: String, _ second: String) throws -> Settings {
      var bindings = Bindings()
      for (name, use, event) in [
        (first, Use.hold(.milliseconds(300)), KeyboardTable.Event.tapTextField),
        (second, .hold(.milliseconds(100)), .clickMoreButton),
      ] {
        #expect(bindings.bind(try Chord([key(name)]), use, to: event) == nil)
      }
      return Settings(bindings: bindings)
    }
    for (first, second) in [("F9", "F10"), ("F10", "F9")] {
      #expect(
        try keyboardEvents("\(first)+ 200 \(second)+", bound(first, second))
          == ["tapTextField 300000", "clickMoreButton 300000"])
    }
  }

  @Test("push-to-talk: nothing in between can turn the microphone on again")
  func pushToTalk() throws {
    let shipped = KeyboardTable.standard
    let starts = shipped.stateNames.filter { $0 != "prepareToRecord" }
      .map { KeyboardTable.Row($0, "startTalking", "prepareToRecord") }
    let table = KeyboardTable(
      try .init(
        states: shipped.stateNames, initial: "prepareToEditText",
        events: shipped.eventNames + ["startTalking", "stopTalking"],
        rows: shipped.rows + starts
          + [.init("prepareToRecord", "stopTalking", "editingText")]))
    var settings = Settings(keyboard: table)
    let chord = try Chord([key("F9")])
    let start = try #require(table.event(named: "startTalking"))
    let stop = try #require(table.event(named: "stopTalking"))
    #expect(settings.bindings.bind(chord, to: start) == nil)
    #expect(settings.bindings.bind(chord, .release, to: stop) == nil)
    #expect(try states("F9+ 700 F9-", settings) == ["prepareToRecord", "editingText"])
    #expect(
      try states("F9+ 700 COMPOSE F9-", settings) == ["prepareToRecord", "showingPanel"])
    #expect(try states("SCROLLLOCK F9", settings) == ["prepareToRecord", "editingText"])
  }
}

@Suite("Controller: uses of a chord with debounce")
struct DebouncedUsesTests {
  private func settings(_ chords: [(String, Use)]) throws -> Settings {
    try usesSettings(chords, debounce: .milliseconds(5))
  }

  @Test(
    "a release waits for what may be a bounce, and keeps its own time; a press never waits",
    arguments: [
      ("F9+ 50 F9-", ["press 0", "tap 50000", "release 50000"]),
      ("F9+ 50 F9- 4_999us F9+ 40 F9-", ["press 0", "tap 94999", "release 94999"]),
      (
        "F9+ 50 F9- 5_000us F9+ 40 F9-",
        ["press 0", "tap 50000", "release 50000", "press 55000", "tap 95000", "release 95000"]
      ),
      ("F9 1 F9 1 F9 1 F9+ 50 F9- 1 F9 1 F9", ["press 0", "tap 55000", "release 55000"]),
      // Another key settles it.
      ("F9+ 50 F9- 1 A 1 F9+ 20 F9-", ["press 0", "tap 50000", "release 50000"]),
      // A bounce and a release of another key do not, nor does what means nothing.
      ("A+ F9+ 50 F9- 1 A- 1 A+ 1 F9+ 20 F9-", ["press 0", "tap 73000", "release 73000"]),
      ("F9+ 50 F9- 1 BTN_TOUCH 1 F9+ 20 F9-", ["press 0", "tap 72000", "release 72000"]),
      // A key pressed in between bounces makes it no tap.
      ("F9 1 F9+ 50 A F9-", ["press 0", "release 51000"]),
    ])
  func settled(_ line: String, _ expected: [String]) throws {
    #expect(try keyboardEvents(line, settings(all)) == expected)
  }

  @Test("a hold that became due in a gap between bounces is sent at its time, if the key was down")
  func holdInGap() throws {
    #expect(
      try keyboardEvents("F9+ 299 F9- 2 F9+ 50 F9-", settings(all))
        == ["press 0", "hold 300000", "release 351000"])
    #expect(try keyboardEvents("F9+ 299 F9- 2", settings(all)) == ["press 0", "release 299000"])
    #expect(
      try keyboardEvents("F9+ 300 F9- 2 F9+ 50 F9-", settings(all))
        == ["press 0", "hold 300000", "release 352000"], "sent once")
    var timeline = Timeline(try settings(all))
    try timeline.play("F9+ 298 F9-")
    #expect(timeline.controller.deadline == Time(microseconds: 303_000))
    try timeline.play("2")
    timeline.passTime()
    #expect(keyboardEvents(timeline) == ["press 0"], "the key may be up")
  }

  @Test("programs and other devices' losses: what settles a release and what does not")
  func inputs() throws {
    let settings = try settings([("F9", .release)])
    func after(_ input: (Time) -> Controller.Input) throws -> [String] {
      var timeline = Timeline(settings)
      try timeline.play("F9+ 50 F9- 1")
      timeline.take(input(timeline.time))
      return keyboardEvents(timeline)
    }
    #expect(try after { .client(.characterTyped, at: $0) } == [], "it may still bounce")
    #expect(try after { .gone(second, at: $0) } == [])
    #expect(try after { .gone(first, at: $0) } == ["release 50000"])
    #expect(try after { .synchronized(first, [], at: $0) } == ["release 50000"])
    #expect(try after { .configured(settings, at: $0) } == ["release 50000"])
    var timeline = Timeline(settings)
    try timeline.play("F9+ 50 F9- 1")
    timeline.end()
    #expect(keyboardEvents(timeline) == ["release 50000"], "nothing more comes")
  }

  @Test("of both machines, the keyboard's settles first by time and at the end, else Shift's")
  func bothMachines() throws {
    var settings = try settings([("F9", .release)])
    settings.shiftTrigger = .tap
    settings.tapTimeout = .milliseconds(200)
    func machines(_ rest: String, _ input: ((Time) -> Controller.Input)? = nil) throws -> [Machine]
    {
      var timeline = Timeline(settings)
      // Bound keys end taps, so F9 is pressed first.
      try timeline.play("F9+ 10 LEFTSHIFT+ 50 LEFTSHIFT- F9- \(rest)")
      if let input { timeline.take(input(timeline.time)) } else { timeline.end() }
      return timeline.changes.map(\.machine)
    }
    #expect(try machines("") == [.keyboard, .shift])
    #expect(try machines("5") == [.keyboard, .shift])
    #expect(try machines("1 F5") == [.shift, .keyboard])
    #expect(try machines("1") { .gone(first, at: $0) } == [.shift, .keyboard])
    #expect(try machines("1") { .synchronized(first, [], at: $0) } == [.shift, .keyboard])
    #expect(try machines("1") { .configured(settings, at: $0) } == [.shift, .keyboard])
    // A repeat that types settles the tap alone.
    var timeline = Timeline(settings)
    try timeline.play("A+ F9+ 10 LEFTSHIFT+ 50 LEFTSHIFT- F9- 1 A*")
    #expect(timeline.changes.map(\.event) == ["shiftPressed", "characterTyped"])
  }

  @Test("keys that go up at the same time act in the order of their releases, as without debounce")
  func orderInReport() throws {
    let chords: [(String, Use)] = [("F9", .release), ("F10", .tap)]
    for settings in [try usesSettings(chords), try settings(chords)] {
      for (line, expected) in [
        ("F9+ F10+ 50 F10- F9-", ["tap 50000", "release 50000"]),
        ("F9+ F10+ 50 F9- F10-", ["release 50000", "tap 50000"]),
        // The bounce makes the release of F9 the later one.
        ("F9+ F10+ 50 F9- 1 F9+ F10- F9-", ["tap 51000", "release 51000"]),
      ].prefix(settings.debounce > .zero ? 3 : 2) {
        #expect(try keyboardEvents(line, settings) == expected)
        #expect(try keyboardEvents("\(line) 1 A", settings) == expected)
        var timeline = Timeline(settings)
        try timeline.play(line)
        timeline.end()
        #expect(keyboardEvents(timeline) == expected)
      }
    }
  }

  @Test("several releases are settled in the order in which the keys went up")
  func order() throws {
    var timeline = Timeline(try settings([("F9", .release), ("F10", .release)]))
    try timeline.play("F9+ F10+ 50 F10- 1 F9- 1 A")
    #expect(keyboardEvents(timeline) == ["release 50000", "release 51000"])
    try timeline.play("10 F9+ F10+ 1 F10- 1")
    timeline.take(.gone(first, at: timeline.time))
    #expect(keyboardEvents(timeline).suffix(2) == ["release 63000", "release 64000"])
  }
}
