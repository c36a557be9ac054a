import KeyboardModes
import TestSupport
import Testing

@testable import Timelines

@Suite("Timeline: limits of the picture")
struct BoundaryTests {
  @Test("an empty timeline is drawn")
  func nothing() throws {
    let picture = try drawing(Timeline())
    #expect(picture.shift.count == 1 && picture.keyboard.count == 1)
    #expect(picture.labels.isEmpty && picture.ticks.isEmpty)
  }

  @Test("a timeline of zero duration is drawn as one microsecond")
  func instant() throws {
    var timeline = Timeline()
    timeline.add(.shift, at: at(5_000_000))
    timeline.add(change(.shift, "off", "on", at: 5_000_000))
    let picture = try drawing(timeline)
    #expect(picture.shift.map(\.tooltip) == ["on, 5.000000 to 5.000000 s (0.000000 s)"])
    #expect(picture.labels.map(\.text) == ["5.000000 s", "5.000001 s"])
    timeline.end(at: at(5_000_001))
    let longer = try drawing(timeline)
    #expect(longer.shift.map(\.tooltip) == ["on, 5.000000 to 5.000001 s (0.000001 s)"])
    #expect(longer.labels.map(\.text) == ["5.000000 s", "5.000001 s"])
  }

  @Test(
    "timelines of any duration and start are drawn",
    arguments: [1, 10, 1000, 1_000_000, 60_000_000, 242_000_000_000_000, 10_000_000_000_000_000],
    [0, 1, 99_999_999_999_999, 1_700_000_000_000_000, -1, -1_000_000_000_000_000_000, 1 << 59])
  func durations(_ scale: Int64, _ start: Int64) throws {
    let picture = try drawing(example(start: start, scale: scale))
    #expect(picture.shift.count == 5 && picture.keyboard.count == 5)
    #expect(picture.ticks.count == 4)
    #expect((1...11).contains(picture.labels.count))
  }

  @Test("the least and greatest times are drawn")
  func furthest() throws {
    var timeline = Timeline()
    timeline.add(change(.shift, "off", "on", at: .min))
    timeline.add(change(.shift, "on", "off", at: .max))
    for time in [Int64.max, .min, 0] { timeline.add(.bound, at: at(time)) }
    let picture = try drawing(timeline)
    #expect(picture.ticks.first?.starts == [104, 444, 784])
    #expect(picture.labels.count >= 2)
  }

  @Test("a state that is entered at the end is drawn")
  func last() throws {
    var timeline = example()
    timeline.add(change(.shift, "capsLock", "off", at: 13_000_000))
    let picture = try drawing(timeline)
    #expect(picture.shift.last?.tooltip == "off, 13.000000 to 13.000000 s (0.000000 s)")
    #expect(picture.shift.last?.number("x") == 783)
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
    let svg = example().svg(title: title)
    #expect(svg.utf8.count < 20_000)
    let picture = try Drawing(svg)
    let shown = picture.elements[1].text
    #expect(!shown.unicodeScalars.contains { $0.properties.generalCategory == .control })
    let heading = try #require(picture.texts.first)
    let kept = heading.text.unicodeScalars.prefix { $0 != "…" }
    #expect(shown.unicodeScalars.starts(with: kept))
    #expect(heading.extent.upperBound <= 784)
    // Another parser agrees that this is XML.
    let python = try run(
      "/usr/bin/python3", ["-c", "import sys, xml.dom.minidom as m; m.parse(sys.stdin.buffer)"],
      input: svg)
    #expect(python.status == 0, "\(python.errors)")
  }

  @Test("states of any name are drawn, up to the number that can be told apart")
  func names() throws {
    var timeline = Timeline()
    let names = [
      "<a>&\"", "a name much longer than any state should ever have", "五つ", "four", "5", "6",
    ]
    for (index, name) in (names + names).enumerated() {
      let next = names[(index + 1) % names.count]
      let machine: Machine = index < names.count ? .shift : .keyboard
      timeline.add(change(machine, name, next, at: Int64(index % names.count) * 1000))
    }
    let picture = try drawing(timeline)
    let texts = picture.texts.map(\.text)
    #expect(texts.contains("<a>&\"") && texts.contains("a name much longer …"))
    #expect(texts.count { $0 == "another state" } >= 2)
    #expect(picture.shift.map { $0.tooltip.prefix { $0 != "," } }.contains("another state"))
    #expect(timeline.shift.names.count == Lane.mostStates)
  }
}
