import Evdev
import KeyboardModes
import Testing

private let first = DeviceID(order: 0)
private let second = DeviceID(order: 1)

/// A Shift pressed while another key of a shortcut is held.
@Suite("Controller: Shift inside a shortcut")
struct ShiftInsideShortcutTests {
  @Test(
    "the shortcuts of every day end in off",
    arguments: [
      "LEFTSHIFT+ TAB TAB LEFTSHIFT-", "LEFTSHIFT+ TAB LEFTSHIFT- 100 LEFTSHIFT+ TAB LEFTSHIFT-",
      "LEFTSHIFT+ LEFT LEFTSHIFT- 100 LEFTSHIFT+ LEFT LEFTSHIFT-",
      "LEFTSHIFT+ 300 LEFT 50 LEFT LEFTSHIFT-",
      "LEFTCTRL+ LEFTSHIFT+ V LEFTSHIFT- LEFTCTRL-",
      "LEFTSHIFT+ LEFTCTRL+ V LEFTCTRL- LEFTSHIFT-",
      "LEFTALT+ LEFTSHIFT+ LEFTSHIFT- LEFTALT-", "LEFTALT+ LEFTSHIFT+ LEFTALT- LEFTSHIFT-",
      "LEFTSHIFT+ LEFTALT+ LEFTALT- LEFTSHIFT-", "LEFTSHIFT+ LEFTALT+ LEFTSHIFT- LEFTALT-",
      "LEFTMETA+ LEFTSHIFT+ S LEFTSHIFT- LEFTMETA-",
      "LEFTSHIFT+ 2:BTN_LEFT LEFTSHIFT- 100 LEFTSHIFT+ 2:BTN_LEFT LEFTSHIFT-",
      "2:BTN_LEFT+ LEFTSHIFT+ 2:BTN_LEFT- LEFTSHIFT-",
    ])
  func everyDay(_ line: String) throws {
    var timeline = Timeline()
    try timeline.play(line)
    #expect(timeline.controller.modes.shift == "off")
  }

  @Test(
    "a Shift pressed while Ctrl, left Alt, Meta, a navigation key or a button is held is no event",
    arguments: [
      "LEFTCTRL", "RIGHTCTRL", "LEFTALT", "LEFTMETA", "RIGHTMETA", "HOME", "UP", "PAGEUP", "LEFT",
      "RIGHT", "END", "DOWN", "PAGEDOWN", "BTN_LEFT", "BTN_RIGHT", "BTN_MIDDLE", "BTN_SIDE",
      "BTN_EXTRA", "BTN_FORWARD", "BTN_BACK", "BTN_TASK",
    ], ["LEFTSHIFT", "2:RIGHTSHIFT"])
  func held(_ key: String, _ shift: String) throws {
    #expect(try states("\(key)+ \(shift) 100 \(shift)") == [])
    #expect(try states("\(key)+ \(key)- \(shift)") == ["on"], "it is held no more")
    let tap = Settings(shiftTrigger: .tap)
    #expect(try states("\(key)+ \(shift)", tap) == [])
    #expect(try states("\(key)+ \(key)- \(shift)", tap) == ["on"])
    let always = Settings(shiftTrigger: .always)
    #expect(try states("\(key)+ \(shift) 100 \(shift)", always) == ["on", "capsLock"])
  }

  @Test(
    "any other key that is held makes no shortcut of Shift",
    arguments: [
      "A", "ENTER", "F5", "RIGHTALT", "ESC", "SYSRQ", "INSERT", "KP4", "BTN_TOUCH", "BTN_SOUTH",
      "BTN_TRIGGER", "BTN_TOOL_FINGER", "BTN_0", "BTN_DPAD_UP", "BTN_TRIGGER_HAPPY1",
    ])
  func others(_ key: String) throws {
    var timeline = Timeline()
    try timeline.play("\(key)+ LEFTSHIFT 100 LEFTSHIFT")
    #expect(timeline.changes.filter { $0.machine == .shift }.map(\.to) == ["on", "capsLock"])
  }

  @Test("a key that was down at opening is held, and that of a device that went away is not")
  func opening() throws {
    for name in ["LEFTCTRL", "LEFT", "BTN_LEFT"] {
      var timeline = Timeline()
      timeline.take(.opened(second, held: [try key(name)]))
      try timeline.play("LEFTSHIFT")
      #expect(timeline.changes == [])
      timeline.take(.gone(second, at: timeline.time))
      try timeline.play("LEFTSHIFT")
      #expect(timeline.changes.map(\.to) == ["on"])
    }
    var timeline = Timeline()
    timeline.take(.opened(second, held: [try key("BTN_TOUCH"), try key("BTN_SOUTH")]))
    try timeline.play("LEFTSHIFT")
    #expect(timeline.changes.map(\.to) == ["on"])
  }

  @Test("without pointers, buttons mean nothing, unless they are bound")
  func withoutPointers() throws {
    var settings = Settings(pointers: false)
    #expect(try states("2:BTN_LEFT+ LEFTSHIFT", settings) == ["on"])
    #expect(try states("LEFTSHIFT+ 2:BTN_LEFT LEFTSHIFT-", settings) == ["on"])
    let tap = Settings(shiftTrigger: .tap, pointers: false)
    #expect(try states("LEFTSHIFT+ 2:BTN_LEFT LEFTSHIFT-", tap) == ["on"], "it is no key at all")
    #expect(settings.bindings.bind(try Chord([key("BTN_SIDE")]), to: .tapTextField) == nil)
    #expect(try events("BTN_SIDE", settings) == ["tapTextField"])
    #expect(try states("LEFTSHIFT+ BTN_SIDE", settings) == ["on"], "with Shift, it is not bound")
  }

  @Test("in a sync, Ctrl, Alt and Meta come before Shift, and nothing opens")
  func sync() throws {
    for name in ["LEFTCTRL", "RIGHTCTRL", "LEFTALT", "LEFTMETA"] {
      var timeline = Timeline()
      timeline.take(
        .synchronized(first, try differences("LEFTSHIFT+ \(name)+"), at: timeline.time))
      #expect(timeline.changes == [])
    }
    var timeline = Timeline()
    timeline.take(.synchronized(first, try differences("LEFTSHIFT+ LEFT+"), at: timeline.time))
    #expect(timeline.changes.map(\.to) == ["on"])
    try timeline.play("F5")
    #expect(timeline.changes.map(\.to) == ["on"], "the press of Shift cannot be taken back")
    timeline.take(.synchronized(first, try differences("LEFTCTRL-"), at: timeline.time))
    timeline.take(
      .synchronized(first, try differences("RIGHTSHIFT+ LEFT-"), at: timeline.time))
    #expect(timeline.changes.map(\.to) == ["on", "off"], "releases come first")
  }
}
