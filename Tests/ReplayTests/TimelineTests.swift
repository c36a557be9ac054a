import KeyboardModes
import TestSupport
import Testing

@testable import Replay

func at(_ microseconds: Int64) -> Time { Time(microseconds: microseconds) }

func change(_ machine: MachineName, _ from: String, _ to: String, at time: Int64) -> Change {
  Change(
    sequence: 1, time: at(time), machine: machine, from: from, to: to, event: "characterTyped")
}

/// A timeline of machines in their initial states.
func timeline(from start: Int64, on clock: DisplayClock = DisplayClock()) -> Timeline {
  Timeline(
    from: at(start), in: Controller(settings: Settings()).states, on: clock, Settings())
}

/// Changes and presses of all kinds from `start` to `start + 13 * scale`, in microseconds.
func example(start: Int64 = 0, scale: Int64 = 1_000_000) -> Timeline {
  var timeline = timeline(from: start, on: DisplayClock(startingWith: at(start)))
  let presses: [(Int64, Timeline.PressClass)] = [
    (1, .shift), (3, .character), (4, .shift), (5, .shift), (7, .bound), (8, .bound), (10, .bound),
    (10, .other), (12, .bound),
  ]
  for (time, press) in presses { timeline.add(press, at: at(start + time * scale)) }
  let changes: [(Int64, MachineName, String, String)] = [
    (1, .shift, "off", "on"), (3, .shift, "on", "off"), (4, .shift, "off", "on"),
    (5, .shift, "on", "capsLock"), (7, .keyboard, "prepareToEditText", "prepareToRecord"),
    (8, .keyboard, "prepareToRecord", "editingText"),
    (10, .keyboard, "editingText", "showingPanel"),
    (12, .keyboard, "showingPanel", "prepareToEditText"),
  ]
  for (time, machine, from, to) in changes {
    timeline.add(change(machine, from, to, at: start + time * scale))
  }
  timeline.end(at: at(start + 13 * scale))
  return timeline
}

@Suite("Timeline: contents")
struct ContentTests {
  @Test("each state has a span with its times, and its name if it fits")
  func spans() throws {
    let picture = try drawing(example())
    #expect(
      picture.shift.map(\.tooltip) == [
        "off, 0.000000 to 1.000000 s (1.000000 s)", "on, 1.000000 to 3.000000 s (2.000000 s)",
        "off, 3.000000 to 4.000000 s (1.000000 s)", "on, 4.000000 to 5.000000 s (1.000000 s)",
        "capsLock, 5.000000 to 13.000000 s (8.000000 s)",
      ])
    #expect(picture.shift.map { $0.number("x") } == [128, 178.46, 279.38, 329.85, 380.31])
    #expect(picture.keyboard.count == 5)
    let names = picture.texts.filter { $0.classes.contains("on") }
    #expect(
      names.map(\.text).reversed() == [
        "prepareToEditText", "Rec…", "editingText", "…Panel", "Text", "off", "on", "off", "on",
        "capsLock",
      ])
    for name in names {
      let lane = name.number("y") < 110 ? picture.shift : picture.keyboard
      #expect(
        lane.contains { span in
          let left = span.number("x")
          let right = left + span.number("width")
          return name.extent.lowerBound >= left + 3 && name.extent.upperBound <= right - 3
        }, "\(name.text)")
    }
  }

  @Test("a name that is too long is cut off, or left out")
  func cutOff() throws {
    let names = [Int64](arrayLiteral: 2_000_000, 1_200_000, 600_000).map { length in
      var timeline = timeline(from: 0)
      timeline.add(change(.keyboard, "prepareToEditText", "prepareToRecord", at: 0))
      timeline.add(change(.keyboard, "prepareToRecord", "showingPanel", at: length))
      timeline.end(at: at(10_000_000))
      let texts = try? drawing(timeline).texts.filter { $0.classes.contains("on") }
      return texts?.map(\.text).filter { $0 != "off" && $0 != "showingPanel" }
    }
    #expect(names == [["prepareToRecord"], ["…Record"], []])
  }

  @Test("presses have a row per class")
  func presses() throws {
    var timeline = timeline(from: 0)
    timeline.add(.shift, at: at(0))
    timeline.add(.character, at: at(1_000_000))
    timeline.add(.character, at: at(1_000_001))
    timeline.add(.character, at: at(2_000_000))
    let picture = try drawing(timeline)
    #expect(picture.ticks.map(\.starts) == [[128], [456, 784]])
    #expect(picture.ticks.map(\.tooltip) == ["Shift keys: 1 press", "characters: 3 presses"])
    let rows = picture.texts.filter { $0.classes.isEmpty && $0.number("x") == 16 }
    #expect(rows.map(\.text) == ["Shift keys", "bound keys", "characters", "other keys"])
    let ticks = picture.ticks.map { $0.attributes["d", default: ""] }
    #expect(ticks == ["M128 158v10", "M456 194v10M784 194v10"])
  }

  @Test("the legend has the states that are drawn")
  func legend() throws {
    func legend(_ picture: Drawing) -> [String] {
      picture.texts.filter { $0.classes.isEmpty && $0.number("x") > 128 }.map(\.text)
    }
    #expect(
      legend(try drawing(example())) == [
        "off", "on", "capsLock", "prepareToEditText", "prepareToRecord", "editingText",
        "showingPanel",
      ])
    #expect(legend(try drawing(timeline(from: 0))) == ["off", "prepareToEditText"])
  }

  @Test("times are those of the recording, and dates count from the second of the first event")
  func clocks() throws {
    let late = try drawing(example(start: 99_999_000_000_000))
    #expect(late.labels.first?.text == "99999000 s")
    let date = try drawing(example(start: 1_700_000_000_250_000))
    #expect(date.labels.map(\.text) == ["5 s", "10 s"])
    #expect(date.shift[1].tooltip == "on, 1.250000 to 3.250000 s (2.000000 s)")
    #expect(date.texts[1].text == "13 s · 8 changes · 9 presses · 0 s is 1700000000 s since 1970")
  }

  @Test("a change whose time steps back gets the time of the one before, and no press is lost")
  func stepsBack() throws {
    var timeline = timeline(from: 1_000_000)
    timeline.add(change(.shift, "off", "on", at: 7_000_000))
    timeline.add(change(.shift, "on", "off", at: 6_000_000))
    timeline.add(change(.keyboard, "prepareToEditText", "editingText", at: 6_500_000))
    timeline.add(.shift, at: at(0))
    timeline.end(at: at(10_000_000))
    timeline.end(at: at(2))
    let picture = try drawing(timeline)
    #expect(
      picture.shift.map(\.tooltip) == [
        "off, 1.000000 to 7.000000 s (6.000000 s)", "on, 7.000000 to 7.000000 s (0.000000 s)",
        "off, 7.000000 to 10.000000 s (3.000000 s)",
      ])
    #expect(picture.ticks.map(\.starts) == [[128]])
  }

  @Test(
    "timelines of any duration and start are drawn",
    arguments: [0, 1, 1000, 60_000_000, 10_000_000_000_000_000],
    [0, 99_999_999_999_999, 1_700_000_000_000_000, 1 << 60])
  func durations(_ scale: Int64, _ start: Int64) throws {
    let picture = try drawing(example(start: start, scale: scale))
    #expect(picture.ticks.count == 4)
    #expect((1...6).contains(picture.labels.count))
  }

  @Test("a state that is entered at the end is drawn")
  func last() throws {
    var timeline = example()
    timeline.add(change(.shift, "capsLock", "off", at: 13_000_000))
    let picture = try drawing(timeline)
    #expect(picture.shift.last?.tooltip == "off, 13.000000 to 13.000000 s (0.000000 s)")
    #expect(picture.shift.last?.number("x") == 784)
  }

  @Test(
    "any title is escaped and shortened to fit",
    arguments: [
      "", "a<b>&\"c\" ]]> <!-- --",
      "nul\u{0} bell\u{7} \u{9b}2J \u{fffe}\u{ffff} \u{2028}two\nlines\r\n",
      String(repeating: "W", count: 100_000), String(repeating: "長", count: 500),
      "e" + String(repeating: "\u{301}", count: 5000),
    ])
  func titles(_ title: String) throws {
    let picture = try drawing(example(), title: title)
    let heading = try #require(picture.texts.first).text
    #expect(!heading.unicodeScalars.contains { $0.properties.generalCategory == .control })
    #expect(picture.elements[1].text == heading)
    let isWhole = title.unicodeScalars.count < 60
    #expect(heading.unicodeScalars.count == title.unicodeScalars.count || !isWhole)
    #expect(heading.hasSuffix("…") == !isWhole)
  }

  @Test("a table with many states and long names is drawn")
  func names() throws {
    let names = ["prepareToEditText"] + (1..<64).map { "aStateWithANameAsLongAsItMayBe\($0)" }
    let table = try CompiledTable.NamedTable(
      states: names, initial: names[0],
      rows: zip(names, names.dropFirst()).map { ($0, "go", $1) })
    let states = Controller(settings: Settings()).states
    var timeline = Timeline(
      from: at(0), in: states, on: DisplayClock(), Settings(keyboard: CompiledTable(table)))
    for (index, name) in names.dropFirst().enumerated() {
      timeline.add(change(.keyboard, names[index], name, at: Int64(index + 1) * 1_000_000))
    }
    let texts = try drawing(timeline).texts.map(\.text)
    for name in names { #expect(texts.contains(name)) }
  }
}
