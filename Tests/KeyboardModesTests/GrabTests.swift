import Keyboards
import TestSupport
import Testing

@testable import KeyboardModes

private let first = DeviceID(order: 0)
private let second = DeviceID(order: 1)

private func at(_ milliseconds: Int64) -> Time { Time(microseconds: milliseconds * 1000) }

@Suite("Controller: releases that a grab may hide")
struct ControllerGrabTests {
  /// The held keys, by device, that the controller asks the kernel about before the press.
  private func asked(
    _ timeline: Timeline, _ name: String, on device: DeviceID, rest: [Controller.Input] = []
  ) throws -> [DeviceID: [KeyCode]] {
    let event = KeyEvent(time: timeline.time, key: try key(name), action: .press)
    var asked: [DeviceID: [KeyCode]] = [:]
    let missed = timeline.controller.missedReleases(
      before: .key(device, event), among: rest[...]
    ) { keys, other in
      asked[other] = keys
      return []
    }
    #expect(missed == [])
    return asked
  }

  @Test("the kernel is asked about held keys only before a press that depends on them")
  func deciding() throws {
    var timeline = Timeline()
    try timeline.play("LEFTCTRL+ 2:A+ 3:LEFTMETA+")
    let third = DeviceID(order: 2)
    let (ctrl, meta) = (try key("LEFTCTRL"), try key("LEFTMETA"))
    #expect(try asked(timeline, "C", on: second) == [first: [ctrl], third: [meta]])
    #expect(try asked(timeline, "ESC", on: first) == [first: [ctrl], third: [meta]])
    #expect(try asked(timeline, "LEFTCTRL", on: first) == [:], "it is not bound")
    #expect(try asked(timeline, "LEFTSHIFT", on: second) == [first: [ctrl], third: [meta]])
    try timeline.play("LEFTSHIFT+")
    let shift = try key("LEFTSHIFT")
    #expect(try asked(timeline, "C", on: first) == [first: [ctrl], third: [meta]])
    #expect(try asked(timeline, "ESC", on: first) == [first: [ctrl, shift], third: [meta]])
    try timeline.play("LEFTSHIFT-")
    #expect(try asked(timeline, "F5", on: second) == [:])
    let gone = Controller.Input.gone(first, at: timeline.time)
    #expect(try asked(timeline, "C", on: second, rest: [gone]) == [third: [meta]])
  }

  @Test("the kernel is not asked about a modifier whose release has already been read")
  func knownReleases() throws {
    var timeline = Timeline()
    try timeline.play("LEFTCTRL+ LEFTALT+")
    let (ctrl, alt) = (try key("LEFTCTRL"), try key("LEFTALT"))
    func event(_ key: KeyCode, _ action: KeyEvent.Action) -> KeyEvent {
      KeyEvent(time: timeline.time, key: key, action: action)
    }
    let release = Controller.Input.key(first, event(ctrl, .release))
    let others: [Controller.Input] = [
      .key(first, event(try key("C"), .release)), .key(first, event(alt, .press)),
      .key(second, event(alt, .release)), .synchronized(second, [], at: timeline.time),
    ]
    for device in [first, second] {
      #expect(try asked(timeline, "C", on: device, rest: [release]) == [first: [alt]])
      #expect(try asked(timeline, "C", on: device, rest: others) == [first: [ctrl, alt]])
      let found = Controller.Input.synchronized(first, [], at: timeline.time)
      #expect(try asked(timeline, "C", on: device, rest: [found]) == [:])
    }
  }

  /// Plays a line, then lets the daemon wake at these times; returns the keys that the kernel was
  /// asked about, by time, which it says are up from the last time on.
  private func woken(_ timeline: inout Timeline, at times: [Int64]) throws -> [String] {
    var asked: [String] = []
    for time in times {
      timeline.handle(Batch(reached: at(time), noInputBefore: at(time))) { keys, device in
        asked.append("\(time): \(device.order) \(keys.map(\.number))")
        return time == times.last ? keys : []
      }
    }
    return asked
  }

  @Test("while a chord is active, and only then, the kernel is asked every 250 ms")
  func asked() throws {
    var timeline = Timeline(try Settings(text: "F9 release, F10 release"))
    #expect(timeline.controller.wakeTime == nil)
    try timeline.play("10 F9+")
    #expect(timeline.controller.wakeTime == at(260))
    #expect(timeline.controller.nextCheck != nil)
    #expect(timeline.controller.deadline == nil, "it changes nothing by itself")
    try timeline.play("2:F10+ 2:F9+")
    let asked = try woken(&timeline, at: [259, 260, 300, 509, 510, 760])
    #expect(
      asked == [
        "260: 0 [67]", "260: 1 [68, 67]", "510: 0 [67]", "510: 1 [68, 67]", "760: 0 [67]",
        "760: 1 [68, 67]",
      ])
    #expect(timeline.changes.map(\.time) == [at(760), at(760), at(760)])
    #expect(timeline.controller.wakeTime == nil)
    try timeline.play("F9+ F9-")
    #expect(timeline.controller.wakeTime == nil)
  }

  @Test("a release that is found comes after all inputs of its batch, whatever their order")
  func foundLast() throws {
    var controller = Controller(settings: try Settings(text: "F9 release"))
    let press = KeyEvent(time: at(1000), key: try key("F9"), action: .press)
    controller.handle(.key(first, press))
    var handled: [Controller.Input] = []
    let ends = [1300, 1290].map { Controller.Input.gone(second, at: at($0)) }
    controller.handle(
      Batch(ends, reached: at(1281), noInputBefore: at(1280)),
      keysUp: { keys, _ in keys }, beforeEach: { handled.append($1) })
    let found = Time(microseconds: at(1300).microseconds + 1)
    #expect(handled.last == .missedRelease(first, press.key, at: found))
  }

  @Test("a hold that was sent awaits nothing more")
  func doneHold() throws {
    var timeline = Timeline(try Settings(text: "F9 hold 100"))
    try timeline.play("F9+")
    #expect(timeline.controller.wakeTime == at(100))
    try timeline.play("100")
    timeline.passTime()
    #expect(timeline.controller.wakeTime == nil)
    #expect(timeline.controller.nextCheck == nil)
  }

  @Test("what is found so is a release of the key, and is recorded")
  func recorded() throws {
    var timeline = Timeline(try Settings(text: "F9 release, F9 hold 260"))
    try timeline.play("F9+")
    var handled: [Controller.Input] = []
    var controller = timeline.controller
    let changes = controller.handle(
      Batch(reached: at(255), noInputBefore: at(254)), keysUp: { keys, _ in keys },
      beforeEach: { handled.append($1) })
    // Later inputs are all later than what is settled, so a replay has this order, too.
    let up = KeyEvent(time: at(254), key: try key("F9"), action: .release)
    #expect(handled == [.missedRelease(first, up.key, at: up.time)])
    #expect(changes.map(\.event) == ["release"])
    #expect(changes.map(\.time) == [at(254)])
    // A release that is still in the batch is not hidden.
    controller = timeline.controller
    controller.handle(
      Batch([.key(first, up)], reached: at(255), noInputBefore: at(254)),
      keysUp: { _, _ in
        Issue.record("nothing is to be asked")
        return []
      })
  }

  @Test("a hidden release comes after the keys that were known when it was found")
  func afterKnownKeys() throws {
    var timeline = Timeline(try Settings(text: "F9 release"))
    try timeline.play("F9+")
    let press = KeyEvent(
      time: Time(microseconds: 254_900), key: try key("A"), action: .press)
    var handled: [Controller.Input] = []
    var controller = timeline.controller
    controller.handle(
      Batch([.key(second, press)], reached: at(255), noInputBefore: at(254)),
      keysUp: { keys, _ in keys },
      beforeEach: { handled.append($1) })
    let after = Time(microseconds: 254_901)
    let f9 = try key("F9")
    #expect(handled == [.key(second, press), .missedRelease(first, f9, at: after)])
  }

  @Test("a hidden release is found before all inputs of its time, LEDs among them")
  func besideLEDs() throws {
    var timeline = Timeline()
    try timeline.play("LEFTSHIFT 600 2:LEFTCTRL+")
    let (time, a, ctrl) = (timeline.time, try key("A"), try key("LEFTCTRL"))
    let release = Controller.Input.key(first, KeyEvent(time: time, key: a, action: .release))
    let press = Controller.Input.key(first, KeyEvent(time: time, key: a, action: .press))
    let leds = Controller.Input.leds(first, LEDReport(LEDs(number: 1)), at: time)
    for inputs in [[leds, press], [release, leds, press]] {
      var controller = timeline.controller
      var handled: [Controller.Input] = []
      controller.handle(Batch(inputs), keysUp: { keys, _ in keys }) { handled.append($1) }
      #expect(handled == [.missedRelease(second, ctrl, at: time)] + inputs)
      #expect(controller.states.shift == "off", "a character was typed")
    }
  }

  @Test("a hidden release of Shift closes its press before the next key takes it back")
  func hiddenShift() throws {
    for (isUp, event) in [(true, "shiftPressed"), (false, "shiftUsed")] {
      var timeline = Timeline()
      try timeline.play("LEFTSHIFT+ 700")
      let press = KeyEvent(time: timeline.time, key: try key("F5"), action: .press)
      timeline.handle(Batch([.key(second, press)])) { keys, _ in isUp ? keys : [] }
      #expect(timeline.changes.last?.event == event)
    }
  }

  @Test("a hidden release of a key of a shortcut lets the next Shift count")
  func hiddenShortcut() throws {
    for name in ["LEFTCTRL", "LEFT", "BTN_LEFT"] {
      for isUp in [true, false] {
        var timeline = Timeline()
        try timeline.play("2:\(name)+ 700")
        let press = KeyEvent(time: timeline.time, key: try key("LEFTSHIFT"), action: .press)
        timeline.handle(Batch([.key(first, press)])) { keys, _ in isUp ? keys : [] }
        #expect(timeline.changes.map(\.to) == (isUp ? ["on"] : []))
      }
    }
  }
}
