import Evdev
import KeyboardModes
import Testing

private let first = DeviceID(order: 0)
private let second = DeviceID(order: 1)

/// A Shift that is taken back.
@Suite("Controller: Shift taken back")
struct ShiftTakenBackTests {
  @Test(
    "a key that types no character takes an open Shift back at its own time, before its own event",
    arguments: [
      "LEFTCTRL", "RIGHTCTRL", "LEFTALT", "LEFTMETA", "RIGHTMETA", "TAB", "ENTER", "LEFT", "F5",
      "CAPSLOCK", "DELETE", "2:BTN_LEFT", "2:BTN_TASK", "2:F5", "MUTE", "INSERT", "ESC",
    ])
  func takenBack(_ other: String) throws {
    var timeline = Timeline()
    try timeline.play("7us LEFTSHIFT+ 3us \(other)")
    #expect(
      timeline.changes == [
        Change(
          sequence: 1, time: Time(microseconds: 7), machine: .shift, from: "off", to: "on",
          event: "shiftPressed"),
        Change(
          sequence: 2, time: Time(microseconds: 10), machine: .shift, from: "on", to: "off",
          event: "shiftUsed"),
      ])
    #expect(timeline.controller.snapshot.shift == .off)
    #expect(try states("LEFTSHIFT+ \(other)", Settings(shiftTrigger: .always)) == ["on"])
    #expect(try states("LEFTSHIFT+ \(other)", Settings(shiftTrigger: .tap)) == [])
  }

  @Test("a bound key takes Shift back and then sends its event")
  func bound() throws {
    var settings = Settings()
    let chord = try Chord([key("LEFTSHIFT"), key("F9")])
    #expect(settings.bindings.bind(chord, to: .tapTextField) == nil)
    #expect(try events("LEFTSHIFT+ F9", settings) == ["shiftPressed", "shiftUsed", "tapTextField"])
    #expect(
      try events("RIGHTALT+ LEFTSHIFT+ RIGHTALT- F9", settings)
        == ["shiftPressed", "shiftUsed", "tapTextField"])
  }

  @Test(
    "AltGr, Shift, and the codes of game pads, fingers and pens take no Shift back",
    arguments: [
      "RIGHTALT", "BTN_0", "BTN_9", "BTN_TRIGGER", "BTN_SOUTH", "BTN_TOUCH", "BTN_TOOL_PEN",
      "BTN_TOOL_DOUBLETAP", "BTN_GEAR_UP", "BTN_DPAD_UP", "BTN_DPAD_RIGHT", "BTN_TRIGGER_HAPPY1",
      "BTN_TRIGGER_HAPPY40",
    ])
  func nothing(_ name: String) throws {
    #expect(try states("LEFTSHIFT+ \(name) LEFTSHIFT-") == ["on"])
    #expect(try states("LEFTSHIFT+ \(name) A LEFTSHIFT-") == ["on", "off"])
  }

  @Test("the codes that mean nothing are those of the ranges, unless they are bound")
  func ranges() throws {
    let ranges: [ClosedRange<UInt16>] = [
      0x100...0x10f, 0x118...0x15f, 0x220...0x223, 0x2c0...0x2e7,
    ]
    for number in 0...KeyCode.max {
      let code = try #require(KeyCode(number))
      guard !code.isCharacter, !code.isShift, number != 100 else { continue }
      var timeline = Timeline()
      try timeline.play("LEFTSHIFT+")
      timeline.take(.key(second, KeyEvent(time: timeline.time, key: code, action: .press)))
      let means = !ranges.contains { $0.contains(number) }
      #expect(timeline.controller.modes.shift == (means ? "off" : "on"), "\(number)")
      // Neither do they come between the press and the release of a tap.
      var tap = Timeline(Settings(shiftTrigger: .tap))
      try tap.play("LEFTSHIFT+")
      tap.take(.key(second, KeyEvent(time: tap.time, key: code, action: .press)))
      try tap.play("LEFTSHIFT-")
      #expect(tap.controller.modes.shift == (means ? "off" : "on"), "\(number)")
    }
    var settings = Settings()
    #expect(
      settings.bindings.bind(try Chord([key("LEFTSHIFT"), key("BTN_SOUTH")]), to: .tapTextField)
        == nil)
    #expect(
      try events("LEFTSHIFT+ BTN_SOUTH", settings)
        == ["shiftPressed", "shiftUsed", "tapTextField"])
    #expect(try events("LEFTSHIFT+ BTN_EAST", settings) == ["shiftPressed"])
  }

  @Test("a character with Ctrl, Alt or Meta held takes Shift back, and without them closes it")
  func characters() throws {
    #expect(try states("LEFTSHIFT+ A F5") == ["on", "off"])
    #expect(try states("LEFTSHIFT 100 LEFTSHIFT+ A F5") == ["on", "capsLock"])
    var timeline = Timeline()
    // Held at opening on another keyboard, after the press of Shift.
    try timeline.play("LEFTSHIFT+")
    timeline.take(.opened(second, held: [try key("LEFTCTRL")]))
    try timeline.play("A")
    #expect(timeline.changes.map(\.event) == ["shiftPressed", "shiftUsed"])
  }

  @Test("the machine goes back to what it was: capsLock, or an `on` with its old press time")
  func before() throws {
    #expect(
      try states("LEFTSHIFT 100 LEFTSHIFT 300 LEFTSHIFT+ LEFT LEFTSHIFT-")
        == ["on", "capsLock", "off", "capsLock"])
    for (distance, last) in [(499_999, "capsLock"), (500_000, "off")] {
      var timeline = Timeline()
      try timeline.play("7us LEFTSHIFT 100 LEFTSHIFT+ LEFT LEFTSHIFT-")
      #expect(timeline.changes.map(\.to) == ["on", "capsLock", "on"])
      #expect(timeline.controller.snapshot.shift == .on(since: Time(microseconds: 7)))
      try timeline.play("\(distance - 100_000)us LEFTSHIFT")
      #expect(timeline.changes.last?.to == last)
    }
    var later = Timeline()
    try later.play("LEFTSHIFT 900 LEFTSHIFT+ LEFT LEFTSHIFT- 100 LEFTSHIFT")
    #expect(later.changes.map(\.to) == ["on", "off", "on", "off"], "1 s after the old time")
  }

  @Test("with two Shifts open, the state before the earlier press comes back")
  func two() throws {
    #expect(try states("LEFTSHIFT+ 300 RIGHTSHIFT+ F5") == ["on", "capsLock", "off"])
    #expect(try states("LEFTSHIFT+ 300 2:LEFTSHIFT+ F5") == ["on", "capsLock", "off"])
    #expect(
      try states("LEFTSHIFT+ 300 RIGHTSHIFT+ LEFTSHIFT- F5") == ["on", "capsLock", "on"],
      "only the second is open")
    #expect(try states("LEFTSHIFT+ 300 RIGHTSHIFT+ RIGHTSHIFT- F5") == ["on", "capsLock", "off"])
    #expect(
      try states("LEFTSHIFT+ 300 RIGHTSHIFT+ LEFTSHIFT- RIGHTSHIFT- F5") == ["on", "capsLock"])
    #expect(
      try states("LEFTSHIFT+ 300 RIGHTSHIFT+ F5 F6 RIGHTSHIFT- LEFTSHIFT- 10 LEFTSHIFT")
        == ["on", "capsLock", "off", "on"], "then nothing is open")
  }

  @Test("a second press of a Shift whose release was not seen closes the first")
  func pressedAgain() throws {
    #expect(try states("LEFTSHIFT+ 600 LEFTSHIFT+ F5") == ["on", "off", "on"])
    #expect(try states("LEFTSHIFT+ 100 LEFTSHIFT+ F5") == ["on", "capsLock", "on"])
    #expect(try states("LEFTSHIFT+ 600 RIGHTSHIFT+ F5") == ["on", "off"], "two keys, both open")
  }

  @Test("an on whose press time alone changes is no change, but the store keeps it")
  func timeAlone() throws {
    var timeline = Timeline()
    try timeline.play("LEFTSHIFT 600 LEFTSHIFT+ 10 RIGHTSHIFT+")
    #expect(timeline.changes.map(\.to) == ["on", "off", "on"])
    let before = timeline.controller
    #expect(before.snapshot.shift == .on(since: Time(microseconds: 610_000)))
    try timeline.play("F5")
    #expect(timeline.changes.count == 3)
    #expect(timeline.controller.modes == before.modes)
    #expect(timeline.controller.snapshot.shift == .on(since: Time(microseconds: 0)))
    #expect(timeline.controller.revision > before.revision)
    let revision = timeline.controller.revision
    try timeline.play("F5 LEFTSHIFT- RIGHTSHIFT- F5")
    #expect(timeline.controller.revision == revision, "nothing of the snapshot changed")
  }

  @Test("a release closes its own press; characters, programs, losses and a reload close all")
  func closed() throws {
    #expect(try states("LEFTSHIFT F5") == ["on"])
    #expect(try states("LEFTSHIFT+ 600 A+ F5") == ["on", "off"])
    var repeated = Timeline()
    try repeated.play("A+ LEFTSHIFT 100 LEFTSHIFT+ A* F5")
    #expect(repeated.changes.map(\.to) == ["on", "capsLock"])
    let time = Time(microseconds: 200_000)
    for input in [
      Controller.Input.client(.characterTyped, at: time), .client(.shiftPressed, at: time),
      .client(.keyboard(.tapTextField), at: time), .synchronized(first, [], at: time),
      .synchronized(second, [], at: time), .configured(Settings(), at: time),
      .gone(first, at: time),
    ] {
      var timeline = Timeline()
      try timeline.play("LEFTSHIFT+ 100 RIGHTSHIFT+")
      timeline.take(input)
      let state = timeline.controller.modes.shift
      try timeline.play("2:F5")
      #expect(timeline.controller.modes.shift == state, "\(input)")
      #expect(!timeline.changes.contains { $0.event == "shiftUsed" })
    }
    for input in [
      Controller.Input.gone(second, at: time), .opened(second, held: []), .allOpened(at: time),
    ] {
      var timeline = Timeline()
      try timeline.play("LEFTSHIFT+ 100 2:A+ LEFTSHIFT- 600 LEFTSHIFT+")
      timeline.take(input)
      try timeline.play("F5")
      #expect(timeline.changes.map(\.event).last == "shiftUsed", "\(input) closes nothing")
    }
  }

  @Test("a timeout closes all presses, and a state whose timeout is over does not come back")
  func timeout() throws {
    let settings = Settings(shift: ShiftRules(timeout: .seconds(3)))
    #expect(try events("LEFTSHIFT+ 3000 F5", settings) == ["shiftPressed", "timedOut"])
    #expect(try events("LEFTSHIFT+ 2999_999us F5", settings) == ["shiftPressed", "shiftUsed"])
    // Back to `on`: the timeout counts from the old press.
    var timeline = Timeline(settings)
    try timeline.play("LEFTSHIFT 600 LEFTSHIFT+ 2399_999us F5")
    #expect(timeline.changes.map(\.to) == ["on", "off", "on"])
    #expect(timeline.controller.deadline == Time(microseconds: 3_000_000))
    try timeline.play("1us")
    timeline.passTime()
    #expect(timeline.changes.last?.event == "timedOut")
    #expect(timeline.changes.last?.time == Time(microseconds: 3_000_000))
    // It is over by then: `off` comes back, which is the present state.
    #expect(try states("LEFTSHIFT 600 LEFTSHIFT+ 2400 F5", settings) == ["on", "off"])
    #expect(
      try states("LEFTSHIFT 300 LEFTSHIFT+ 2700 F5", settings) == ["on", "capsLock", "off"])
    #expect(
      try states("LEFTSHIFT 300 LEFTSHIFT+ 2699_999us F5", settings) == ["on", "capsLock", "on"])
  }

  @Test("autorepeat and releases of other keys take nothing back")
  func noPress() throws {
    #expect(try states("F5+ LEFTSHIFT+ F5* F5- LEFTSHIFT-") == ["on"])
  }

  @Test("a bounced release of Shift opens its press again, with its earlier state")
  func bounce() throws {
    let settings = Settings(debounce: .milliseconds(5))
    #expect(
      try states("LEFTSHIFT+ 80 LEFTSHIFT- 4_999us LEFTSHIFT+ F5", settings) == ["on", "off"])
    #expect(try states("LEFTSHIFT+ 80 LEFTSHIFT- 4_999us F5", settings) == ["on"], "it is up")
    #expect(
      try states("LEFTSHIFT+ 80 LEFTSHIFT- 5_000us LEFTSHIFT+ F5", settings)
        == ["on", "capsLock", "on"])
    #expect(
      try states("LEFTSHIFT+ 80 LEFTSHIFT- 1 F5 1 LEFTSHIFT+ F6", settings) == ["on", "off"])
    #expect(
      try states("LEFTSHIFT+ 80 LEFTSHIFT- 1 A 1 LEFTSHIFT+ F6", settings) == ["on", "off"])
    #expect(
      try states("LEFTSHIFT 600 LEFTCTRL+ LEFTSHIFT+ 1 LEFTSHIFT- 1 LEFTSHIFT+ V", settings)
        == ["on"], "the press that bounces is nothing, and the earlier one is over")
  }

  @Test("the meaning of a press tells what Shift would do")
  func meaning() throws {
    var timeline = Timeline()
    let shift = try key("LEFTSHIFT")
    #expect(timeline.controller.meaning(ofPress: shift, on: first) == .shift)
    try timeline.play("2:LEFT+")
    #expect(timeline.controller.meaning(ofPress: shift, on: first) == .other)
    #expect(timeline.controller.meaning(ofPress: try key("RIGHTALT"), on: first) == .inert)
    #expect(timeline.controller.meaning(ofPress: try key("BTN_TOUCH"), on: first) == .inert)
    #expect(timeline.controller.meaning(ofPress: try key("BTN_LEFT"), on: first) == .other)
  }
}
