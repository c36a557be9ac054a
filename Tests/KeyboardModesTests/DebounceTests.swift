import Evdev
import KeyboardModes
import Testing

private let first = DeviceID(order: 0)

@Suite("Controller: debounce")
struct DebounceTests {
  private let settings = Settings(debounce: .milliseconds(5))
  private let tapping = Settings(
    shiftTrigger: .tap, tapTimeout: .milliseconds(200), debounce: .milliseconds(5))

  /// The states that a line of keys leads through, with one second of silence after it.
  private func states(_ line: String, _ settings: Settings) throws -> [String] {
    var timeline = Timeline(settings)
    try timeline.play(line)
    try timeline.play("1000")
    timeline.passTime()
    return timeline.changes.map(\.to)
  }

  @Test(
    "a bouncing Shift is one press, with a limit that is exact to the microsecond",
    arguments: [
      // Bounces at the press, at the release, at both, and several times.
      ("LEFTSHIFT+ 1 LEFTSHIFT- 1 LEFTSHIFT+ 80 LEFTSHIFT-", ["on"]),
      ("LEFTSHIFT+ 80 LEFTSHIFT- 1 LEFTSHIFT+ 1 LEFTSHIFT-", ["on"]),
      ("LEFTSHIFT 4 LEFTSHIFT 4 LEFTSHIFT 4 LEFTSHIFT+ 80 LEFTSHIFT- 4 LEFTSHIFT", ["on"]),
      ("LEFTSHIFT+ 80 LEFTSHIFT- 4_999us LEFTSHIFT+", ["on"]),
      ("LEFTSHIFT+ 80 LEFTSHIFT- 5_000us LEFTSHIFT+", ["on", "capsLock"]),
      ("LEFTSHIFT+ 80 LEFTSHIFT- 0us LEFTSHIFT+", ["on"]),
      // The debounce time starts again with each release.
      ("LEFTSHIFT+ 80 LEFTSHIFT- 4 LEFTSHIFT 5_000us LEFTSHIFT", ["on", "capsLock"]),
      // A press of another key, or of the same key on another keyboard, is not a bounce.
      ("LEFTSHIFT 1 RIGHTSHIFT", ["on", "capsLock"]),
      ("LEFTSHIFT 1 2:LEFTSHIFT", ["on", "capsLock"]),
      // The release that follows a bounce counts.
      ("LEFTSHIFT 1 LEFTSHIFT+ 100 LEFTSHIFT- 100 LEFTSHIFT", ["on", "capsLock"]),
    ])
  func shift(_ line: String, _ expected: [String]) throws {
    #expect(try states(line, settings) == expected)
  }

  @Test("a bounce is no tap, also where the timeout of `on` is over between release and bounce")
  func timeoutBeforeBounce() throws {
    let settings = Settings(
      shift: ShiftRules(timeout: .milliseconds(300)), shiftTrigger: .tap,
      tapTimeout: .milliseconds(200), debounce: .milliseconds(20))
    var timeline = Timeline(settings)
    try timeline.play("LEFTSHIFT+ 100 LEFTSHIFT- 190 LEFTSHIFT+ 5 LEFTSHIFT- 7")
    timeline.passTime()
    #expect(timeline.changes.map(\.event) == ["shiftPressed"], "302 ms: it may be a tap")
    try timeline.play("8 LEFTSHIFT+")
    func changes() -> [String] {
      timeline.changes.map { "\($0.event) \($0.time.microseconds / 1000)" }
    }
    #expect(changes() == ["shiftPressed 0", "timedOut 300"], "310 ms: it goes on")
    try timeline.play("1690 LEFTSHIFT- 1000")
    timeline.passTime()
    #expect(changes() == ["shiftPressed 0", "timedOut 300"])
    // Without a bounce, the tap is the same as without debouncing: in time.
    #expect(
      try states("LEFTSHIFT+ 100 LEFTSHIFT- 190 LEFTSHIFT+ 5 LEFTSHIFT-", settings)
        == ["on", "capsLock"])
  }

  @Test("without a debounce time, every press counts")
  func off() throws {
    #expect(try states("LEFTSHIFT 1 LEFTSHIFT", Settings()) == ["on", "capsLock"])
  }

  @Test("debouncing delays neither presses nor releases")
  func eager() throws {
    var timeline = Timeline(settings)
    try timeline.play("7us LEFTSHIFT+")
    #expect(timeline.changes.map(\.to) == ["on"])
    #expect(timeline.changes.map(\.time.microseconds) == [7])
    #expect(timeline.controller.deadline == nil, "no state waits for time")
    try timeline.play("600 LEFTCTRL+ 10 LEFTCTRL- C")
    #expect(timeline.changes.map(\.to) == ["on", "off"], "other programs took C without Ctrl")
  }

  @Test(
    "a bouncing character key, modifier or bound key is one press",
    arguments: [
      ("COMPOSE 4 COMPOSE", ["showingPanel"]),
      ("COMPOSE 5 COMPOSE", ["showingPanel", "prepareToEditText"]),
      ("COMPOSE+ 4 COMPOSE- 1 COMPOSE+ 250 COMPOSE* 33 COMPOSE*", ["showingPanel"]),
      ("A 1 LEFTSHIFT 1 A", ["on"]),
      ("A 2 LEFTSHIFT 3 A", ["on", "off"]),
      // A modifier stays held after a bounce.
      ("LEFTSHIFT 600 LEFTCTRL 1 LEFTCTRL+ 100 C", ["on"]),
      ("LEFTSHIFT 600 LEFTCTRL 1 LEFTCTRL+ 100 LEFTCTRL- C", ["on", "off"]),
      ("LEFTCTRL 1 LEFTCTRL+ 9 INSERT", []),
    ])
  func others(_ line: String, _ expected: [String]) throws {
    #expect(try states(line, settings) == expected)
  }

  @Test("a bounce means what its press meant, even if other modifiers are held by now")
  func consumed() throws {
    var settings = settings
    let chord = try Chord([key("LEFTMETA"), key("V")])
    #expect(settings.bindings.bind(chord, to: .clickSwitchButton) == nil)
    #expect(
      try states("LEFTSHIFT 600 LEFTMETA+ V+ 1 LEFTMETA- V- 1 V+ 250 V* 33 V*", settings)
        == ["on", "prepareToRecord"], "it completed a chord, and types nothing")
    #expect(
      try states("LEFTSHIFT 600 LEFTMETA+ V+ V- 4 V+ V- 5 V+", settings)
        == ["on", "prepareToRecord", "editingText"])
    #expect(
      try states("V+ 1 LEFTMETA+ V- 1 V+", settings) == [], "what was a letter is no chord")
  }

  @Test(
    "a bounce neither ends a tap nor starts a second one",
    arguments: [
      ("LEFTSHIFT+ 1 LEFTSHIFT- 1 LEFTSHIFT+ 100 LEFTSHIFT-", ["on"]),
      ("LEFTSHIFT+ 100 LEFTSHIFT- 1 LEFTSHIFT+ 1 LEFTSHIFT-", ["on"]),
      ("LEFTSHIFT+ 1 LEFTSHIFT- 1 LEFTSHIFT+ 50 A 50 LEFTSHIFT-", []),
      ("LEFTSHIFT+ 1 LEFTSHIFT- 1 LEFTSHIFT+ 250 LEFTSHIFT-", []),
      ("LEFTSHIFT+ 199 LEFTSHIFT- 500us LEFTSHIFT+ 499us LEFTSHIFT-", ["on"]),
      ("LEFTSHIFT+ 199 LEFTSHIFT- 500us LEFTSHIFT+ 500us LEFTSHIFT-", []),
      ("LEFTSHIFT+ 50 LEFTSHIFT- 4_999us LEFTSHIFT+ 50 LEFTSHIFT-", ["on"]),
      ("LEFTSHIFT+ 50 LEFTSHIFT- 5_000us LEFTSHIFT+ 50 LEFTSHIFT-", ["on", "capsLock"]),
      // A bounce of another key is not a key in between.
      ("A+ 50 LEFTSHIFT+ A- 1 A+ 50 LEFTSHIFT-", ["on"]),
      // Keys after the release act after the tap.
      ("LEFTSHIFT+ 50 LEFTSHIFT- 1 A", ["on", "off"]),
      ("A+ LEFTSHIFT+ 50 LEFTSHIFT- 1 A*", ["on", "off"]),
      ("LEFTSHIFT+ 50 LEFTSHIFT- 1 A 1 LEFTSHIFT+ 50 LEFTSHIFT-", ["on", "off"]),
    ])
  func tap(_ line: String, _ expected: [String]) throws {
    #expect(try states(line, tapping) == expected)
  }

  @Test("a tap counts when its debounce time ends or before the next input, with its press time")
  func tapDeadline() throws {
    var timeline = Timeline(tapping)
    try timeline.play("LEFTSHIFT+ 50 LEFTSHIFT-")
    #expect(timeline.controller.deadline == Time(microseconds: 55_000))
    try timeline.play("4_999us")
    timeline.passTime()
    #expect(timeline.changes.isEmpty)
    try timeline.play("1us")
    timeline.passTime()
    #expect(timeline.changes.map(\.time.microseconds) == [0])
    #expect(timeline.controller.deadline == nil)
    let before: [Controller.Input] = [
      .client(.characterTyped, at: Time(microseconds: 51_000)),
      .gone(first, at: Time(microseconds: 51_000)),
      .configured(tapping, at: Time(microseconds: 51_000)),
      .synchronized(first, [], at: Time(microseconds: 51_000)),
    ]
    for input in before {
      var timeline = Timeline(tapping)
      try timeline.play("LEFTSHIFT+ 50 LEFTSHIFT-")
      timeline.take(input)
      #expect(timeline.changes.first?.to == "on", "before \(input)")
      #expect(timeline.controller.deadline == nil)
    }
    var ended = Timeline(tapping)
    try ended.play("LEFTSHIFT+ 50 LEFTSHIFT-")
    #expect(ended.changes.isEmpty)
    ended.end()
    #expect(ended.changes.map(\.to) == ["on"], "nothing more comes")
  }

  @Test("bounces are recognized across a sync by its time")
  func lost() throws {
    var timeline = Timeline(settings)
    try timeline.play("LEFTSHIFT+ 80")
    timeline.take(.synchronized(first, try differences("LEFTSHIFT-"), at: timeline.time))
    try timeline.play("4_999us LEFTSHIFT+ 80 LEFTSHIFT-")
    #expect(timeline.changes.map(\.to) == ["on"])
    try timeline.play("4_999us")
    timeline.take(.synchronized(first, try differences("LEFTSHIFT+"), at: timeline.time))
    #expect(timeline.changes.map(\.to) == ["on"])
    try timeline.play("LEFTSHIFT- 5")
    timeline.take(.synchronized(first, try differences("LEFTSHIFT+"), at: timeline.time))
    #expect(timeline.changes.map(\.to) == ["on", "off"])
  }

  @Test("a press on a reopened device is not a bounce")
  func gone() throws {
    var timeline = Timeline(settings)
    try timeline.play("LEFTSHIFT+ 80 LEFTSHIFT- 1")
    timeline.take(.gone(first, at: timeline.time))
    timeline.take(.opened(first, held: []))
    try timeline.play("1 LEFTSHIFT+")
    #expect(
      timeline.changes.map(\.to) == ["on", "capsLock"], "another device, though of its number")
  }

  @Test("isBounce depends on the device and on the time since its release")
  func counted() throws {
    var timeline = Timeline(settings)
    try timeline.play("A+ 10 A-")
    let a = try key("A")
    func isBounce(_ device: DeviceID, _ microseconds: Int64) -> Bool {
      timeline.controller.isBounce(
        pressOf: a, on: device, at: Time(microseconds: 10_000 + microseconds))
    }
    #expect(isBounce(first, 4999))
    #expect(!isBounce(first, 5000))
    #expect(!isBounce(DeviceID(order: 1), 0))
  }
}
