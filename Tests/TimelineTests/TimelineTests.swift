import Foundation
import KeyboardModes
import TestSupport
import Testing

@testable import Timelines

func at(_ microseconds: Int64) -> Time { Time(microseconds: microseconds) }

func change(_ machine: Machine, _ from: String, _ to: String, at time: Int64) -> Change {
  Change(
    sequence: 1, time: at(time), machine: machine, from: from, to: to, event: "characterTyped")
}

/// Changes and presses of all kinds from `start` to `start + 13 * scale`, in microseconds.
func example(start: Int64 = 0, scale: Int64 = 1_000_000) -> Timeline {
  var timeline = Timeline()
  timeline.begin(at: at(start))
  let presses: [(Int64, Timeline.Press)] = [
    (1, .shift), (3, .character), (4, .shift), (5, .shift), (7, .bound), (8, .bound), (10, .bound),
    (10, .other), (12, .bound),
  ]
  for (time, press) in presses { timeline.add(press, at: at(start + time * scale)) }
  let changes: [(Int64, Machine, String, String)] = [
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
  @Test("the example matches the golden picture")
  func golden() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appending(path: "Pictures/example.svg")
    try drawing(example(), title: "An example")
    let svg = example().svg(title: "An example")
    if ProcessInfo.processInfo.environment["REMAKE_PICTURES"] == "1" {
      try svg.write(to: file, atomically: true, encoding: .utf8)
      Issue.record("example.svg was made anew: look at it, and run the tests without that")
    }
    #expect(try svg == String(contentsOf: file, encoding: .utf8))
  }

  @Test("each state has a span with its times, and its name if it fits")
  func spans() throws {
    let picture = try drawing(example())
    #expect(
      picture.shift.map(\.tooltip) == [
        "off, 0.000000 to 1.000000 s (1.000000 s)", "on, 1.000000 to 3.000000 s (2.000000 s)",
        "off, 3.000000 to 4.000000 s (1.000000 s)", "on, 4.000000 to 5.000000 s (1.000000 s)",
        "capsLock, 5.000000 to 13.000000 s (8.000000 s)",
      ])
    #expect(picture.shift.map { $0.number("x") } == [104, 156.31, 260.92, 313.23, 365.54])
    #expect(picture.keyboard.count == 5)
    // The labels are centred in their spans. prepareToRecord does not fit, even in two lines.
    let names = picture.texts.filter { $0.classes.contains("on") }
    #expect(
      names.map(\.text) == [
        "off", "on", "off", "on", "capsLock", "prepareToEditText", "editingText", "showingPanel",
      ])
    for name in names {
      let lane = name.number("y") < 110 ? picture.shift : picture.keyboard
      #expect(
        lane.contains { span in
          let left = span.number("x")
          let right = left + span.number("width")
          return name.extent.lowerBound >= left + 3 && name.extent.upperBound <= right - 3
            && abs((left + right) / 2 - name.number("x")) < 0.02
        }, "\(name.text)")
    }
  }

  @Test("a name that is too long for one line is written in two, or left out")
  func twoLines() throws {
    let names = [Int64](arrayLiteral: 2_000_000, 1_200_000, 800_000).map { length in
      var timeline = Timeline()
      timeline.begin(at: at(0))
      timeline.add(change(.keyboard, "prepareToEditText", "prepareToRecord", at: 0))
      timeline.add(change(.keyboard, "prepareToRecord", "showingPanel", at: length))
      timeline.end(at: at(10_000_000))
      let texts = try? drawing(timeline).texts.filter { $0.classes.contains("on") }
      return texts?.map(\.text).filter { $0 != "off" && $0 != "showingPanel" }
    }
    #expect(names == [["prepareToRecord"], ["prepare", "ToRecord"], []])
  }

  @Test("presses have a row per class, and a row without presses is greyed")
  func presses() throws {
    var timeline = Timeline()
    timeline.add(.shift, at: at(0))
    timeline.add(.character, at: at(1_000_000))
    timeline.add(.character, at: at(1_000_001))
    timeline.add(.character, at: at(2_000_000))
    let picture = try drawing(timeline)
    #expect(picture.ticks.map(\.starts) == [[104], [444, 784]])
    #expect(picture.ticks.map(\.tooltip) == ["Shift keys: 1 press", "characters: 3 presses"])
    let rows = picture.texts.filter { $0.classes.contains("small") && $0.number("x") == 16 }
    #expect(rows.map(\.text) == ["Shift keys", "bound keys", "characters", "other keys"])
    #expect(rows.map { $0.classes.contains("quiet") } == [false, true, false, true])
    let ticks = picture.ticks.map { $0.attributes["d", default: ""] }
    #expect(ticks == ["M104 159v10", "M444 191v10M784 191v10"])
  }

  @Test("the legend greys the states that did not occur")
  func legend() throws {
    let picture = try drawing(example())
    let unused = picture.texts.filter { $0.classes == ["quiet"] }.map(\.text)
    #expect(unused == ["13 s · 8 changes · 9 presses"])
    let nothing = try drawing(Timeline()).texts.filter { $0.classes == ["quiet"] }.map(\.text)
    #expect(
      nothing == [
        "Nothing was recorded.", "on", "capsLock", "prepareToRecord", "editingText", "showingPanel",
      ])
    #expect(!picture.texts.contains { $0.text == "many changes" })
  }

  @Test("times are those of the recording, and dates count from the second of the first event")
  func clocks() throws {
    let late = try drawing(example(start: 99_999_000_000_000))
    #expect(late.labels.first?.text == "99999000 s")
    let date = try drawing(example(start: 1_700_000_000_250_000))
    #expect(date.labels.map(\.text) == ["2 s", "4 s", "6 s", "8 s", "10 s", "12 s"])
    #expect(date.shift[1].tooltip == "on, 1.250000 to 3.250000 s (2.000000 s)")
    #expect(date.texts[1].text == "13 s · 8 changes · 9 presses · 0 s is 1700000000 s since 1970")
    #expect(try drawing(example(start: 1)).labels.first?.text == "0 s")
    #expect(try drawing(example(start: -5_000_000)).labels.first?.text == "-4 s")
  }

  @Test("a change whose time steps back gets the time of the one before, and no press is lost")
  func stepsBack() throws {
    var timeline = Timeline()
    timeline.add(.other, at: at(0))
    timeline.add(change(.shift, "off", "on", at: 6_000_000))
    timeline.add(change(.shift, "on", "off", at: 5_000_000))
    timeline.add(change(.keyboard, "prepareToEditText", "editingText", at: 5_500_000))
    timeline.add(.shift, at: at(-1_000_000))
    timeline.end(at: at(9_000_000))
    timeline.end(at: at(1))
    let picture = try drawing(timeline)
    #expect(
      picture.shift.map(\.tooltip) == [
        "off, -1.000000 to 6.000000 s (7.000000 s)", "on, 6.000000 to 6.000000 s (0.000000 s)",
        "off, 6.000000 to 9.000000 s (3.000000 s)",
      ])
    #expect(picture.ticks.map(\.starts) == [[104], [172]])
  }
}
