import KeyboardModes
import Recordings
import TestSupport
import Testing

private let keyboard = """
  # libinput record
  version: 1
  ndevices: 1
  libinput:
    version: "1.29.1"
    git: "unknown"
  system:
    os: "debian:13"
    kernel: "6.12.0"
    dmi: "dmi:bvnSeaBIOS"
  devices:
  - node: /dev/input/event4
    evdev:
      # Name: AT Translated Set 2 keyboard
      # ID: bus 0x11 vendor 0x1 product 0x1 version 0xab41
      name: "AT Translated Set 2 keyboard: # [2]"
      id: [17, 1, 1, 43841]
      codes:
        0: [0, 1, 2, 3] # EV_SYN
        1: [1, 2, 3] # EV_KEY
      absinfo:
        0: [0, 255, 0, 0, 0]
      properties: []
    hid: [
      5, 1, 9, 6, 161, 1
    ]
    udev:
      properties:
      - ID_INPUT=1
      - ID_INPUT_KEYBOARD=1
      virtual: false
    quirks:
    somethingNew: {with: [a, list], and: {a: mapping}}
    events:
    # Current time is 12:31:56
    - evdev:
      - [  0,      0,   4,   4,      42] # EV_MSC / MSC_SCAN               42
      - [  0,      0,   1,  42,       1] # EV_KEY / KEY_LEFTSHIFT           1
      - [  0,      0,   0,   0,       0] # ------------ SYN_REPORT (0) ---------- +0ms
    - hid:
        time: [  0,     20]
        hidraw0: [  0,   2,   0]
    - libinput:
      - {time: 0.0, type: KEYBOARD_KEY, key: [42, pressed]}
    # Touch device in neutral state
    - evdev:
      - [  1, 300002,   1,  42,       2] # EV_KEY / KEY_LEFTSHIFT           2
      - [  1, 300002,   0,   0,       1] # ------------ SYN_REPORT (1) ---------- +1300ms
    - evdev:
      - [  2, 999999,   1,  42,       0] # EV_KEY / KEY_LEFTSHIFT           0
      - [  2, 999999,   0,   0,       0] # ------------ SYN_REPORT (0) ---------- +1699ms

  """

/// The lines of a report, without those of its frame.
private func report(_ events: String...) -> String {
  "- evdev:\n" + events.map { "  - [\($0)]\n" }.joined()
}

/// A recording of several devices with these entries.
private func recording(_ devices: [String], header: String = "version: 1\n") -> String {
  header + "ndevices: \(devices.count)\ndevices:\n"
    + devices.enumerated().map { number, entries in
      let events = entries.split(separator: "\n").map { "  \($0)\n" }.joined()
      return "- node: /dev/input/event\(number)\n  evdev:\n    name: x\n  events:\n\(events)"
    }.joined()
}

@Suite("Recordings of libinput")
struct LibinputTests {
  @Test("the key events are returned, and all other lines are skipped")
  func whole() throws {
    for text in [keyboard, keyboard.replacing("\n", with: "\r\n")] {
      let outcome = try read(text)
      #expect(outcome.error == nil)
      #expect(outcome.warnings == [])
      #expect(
        try outcome.events == [
          event(0, 42, .press), event(1_300_002, 42, .autorepeat), event(2_999_999, 42, .release),
        ])
    }
  }

  @Test(
    "a recording without its first lines is read",
    arguments: [
      "devices:\n- node: x\n  events:\n  - evdev:\n    - [3, 42, 1, 30, 1]\n",
      "  events:\n  - evdev:\n    - [3, 42, 1, 30, 1]\n",
      "# Current time is 12:31:56\n  - evdev:\n    - [3, 42, 1, 30, 1]\n",
      "- evdev:\n  - [3, 42, 1, 30, 1]\n",
    ])
  func fragments(_ text: String) throws {
    let outcome = try read(text)
    #expect(outcome.error == nil)
    #expect(try outcome.events == [event(3_000_042, 30, .press)])
  }

  @Test(
    "a libinput recording may have no events",
    arguments: [recording([""]), recording(["", ""]), "version: 1\nndevices: 0\ndevices:\n"])
  func empty(_ text: String) throws {
    let outcome = try read(text)
    #expect(outcome.error == nil)
    #expect(outcome.events == [])
  }

  @Test("devices are merged by time and reports stay whole, from a file and from a pipe")
  func severalDevices() throws {
    let text = recording([
      """
      - evdev:
        - [1, 0, 1, 29, 1]
        - [1, 0, 0, 0, 0]
      - evdev:
        - [3, 0, 1, 46, 1]
        - [3, 0, 1, 46, 0]
        - [3, 0, 0, 0, 0]
      """, "",
      """
      - evdev:
        - [2, 0, 1, 30, 1]
        - [2, 0, 0, 0, 0]
      - evdev:
        - [3, 0, 1, 30, 0]
        - [3, 0, 1, 30, 1]
        - [3, 0, 0, 0, 0]
      - evdev:
        - [4, 0, 1, 30, 0]
        - [4, 0, 0, 0, 0]
      """,
    ])
    let outcome = try read(text)
    #expect(outcome.error == nil)
    #expect(
      try outcome.events == [
        event(1_000_000, 29, .press), event(2_000_000, 30, .press), event(3_000_000, 46, .press),
        event(3_000_000, 46, .release, continuesFrame: true), event(3_000_000, 30, .release),
        event(3_000_000, 30, .press, continuesFrame: true), event(4_000_000, 30, .release),
      ])
    #expect(outcome.devices == [0, 1, 0, 0, 1, 1, 1], "the device without events has no number")
    #expect(try Outcome(Array(text.utf8), throughPipe: true) == outcome)
  }

  /// As `libinput record` writes them, with the frames, scan codes and motion of a real mouse.
  @Test("of a mouse and a touchpad, buttons and touches are key events, and motion is ignored")
  func pointers() throws {
    let text = recording([
      """
      - evdev:
        - [  0,     10,   4,   4,      42] # EV_MSC / MSC_SCAN               42
        - [  0,     10,   1,  42,       1] # EV_KEY / KEY_LEFTSHIFT           1
        - [  0,     10,   0,   0,       0] # ------------ SYN_REPORT (0) ---------- +0ms
      """,
      """
      - evdev:
        - [  0,      5,   2,   0,      -3] # EV_REL / REL_X                  -3
        - [  0,      5,   2,   1,       1] # EV_REL / REL_Y                   1
        - [  0,      5,   0,   0,       0] # ------------ SYN_REPORT (0) ---------- +0ms
      - evdev:
        - [  0,     20,   4,   4,  589825] # EV_MSC / MSC_SCAN           589825
        - [  0,     20,   1, 272,       1] # EV_KEY / BTN_LEFT                1
        - [  0,     20,   2,   0,       2] # EV_REL / REL_X                   2
        - [  0,     20,   0,   0,       0] # ------------ SYN_REPORT (0) ---------- +0ms
      - evdev:
        - [  0,     30,   2,   8,      -1] # EV_REL / REL_WHEEL              -1
        - [  0,     30,   2,  11,    -120] # EV_REL / REL_WHEEL_HI_RES     -120
        - [  0,     30,   0,   0,       0] # ------------ SYN_REPORT (0) ---------- +0ms
      - evdev:
        - [  0,     40,   1, 272,       0] # EV_KEY / BTN_LEFT                0
        - [  0,     40,   0,   0,       0] # ------------ SYN_REPORT (0) ---------- +0ms
      """,
      """
      - evdev:
        - [  0,     25,   3,  57,     105] # EV_ABS / ABS_MT_TRACKING_ID    105
        - [  0,     25,   3,  53,    2711] # EV_ABS / ABS_MT_POSITION_X    2711
        - [  0,     25,   1, 330,       1] # EV_KEY / BTN_TOUCH               1
        - [  0,     25,   0,   0,       0] # ------------ SYN_REPORT (0) ---------- +0ms
      """,
    ])
    let outcome = try read(text)
    #expect((outcome.error, outcome.warnings) == (nil, []))
    #expect(
      try outcome.events == [
        event(10, 42, .press), event(20, 272, .press), event(25, 330, .press),
        event(40, 272, .release),
      ])
    #expect(outcome.devices == [0, 1, 2, 1])
  }

  @Test("more devices than 'ndevices' says are a fault")
  func moreDevicesThanSaid() throws {
    let text = recording([report("1, 0, 1, 30, 1"), report("2, 0, 1, 30, 0")])
      .replacing("ndevices: 2", with: "ndevices: 1")
    let outcome = try read(text)
    #expect(outcome.error == "FILE:14: events of a second device, but 'ndevices' is 1")
    #expect(outcome.events.count == 1)
    #expect(try read(text, isLenient: true).events.count == 1)
  }

  @Test("more than 256 devices are refused")
  func tooManyDevices() throws {
    let one = report("1, 0, 1, 30, 1")
    let outcome = try read(recording(Array(repeating: one, count: 257)))
    #expect(outcome.error == "FILE:1545: more than 256 devices with events")
    let most = try read(recording(Array(repeating: one, count: 256)))
    #expect(most.error == nil)
    #expect(most.devices == Array(0..<256))
  }

  @Test("devices without events get no numbers")
  func silentDevices() throws {
    let silent = String(repeating: "- node: x\n  events:\n", count: 1000)
    let outcome = try read("devices:\n\(silent)- node: x\n\(report("1, 0, 1, 30, 1"))")
    #expect(outcome.error == nil)
    #expect(outcome.devices == [0])
  }

  @Test("of several devices, all events before a fault are returned, then the fault")
  func faultInOneOfSeveral() throws {
    let text = recording([
      report("1, 0, 1, 30, 1") + report("5, 0, 1, 30, 0"),
      report("2, 0, 1, 30, 1") + report("3, 0, 1, 30, 7") + report("4, 0, 1, 30, 0"),
      report("6, 0, 1, 30, 1"),
    ])
    let outcome = try read(text)
    #expect(outcome.error == "FILE:19: key value 7 is not 0, 1 or 2")
    #expect(outcome.events.map(\.time.microseconds) == [1_000_000, 2_000_000, 5_000_000])
    let lenient = try read(text, isLenient: true)
    #expect(lenient.events.map { $0.time.microseconds / 1_000_000 } == [1, 2, 4, 5, 6])
    #expect(lenient.skipped.count == 1)
  }

  @Test("obfuscated keys give one warning")
  func obfuscated() throws {
    let warning =
      "FILE: libinput hid the key codes, even those of Shift; record with --show-keycodes"
    let marked = "- evdev:\n  - [1, 0, 1, 30, 1] # EV_KEY / KEY_A     1 (obfuscated)\n"
    #expect(try read(recording([marked])).warnings == [warning])
    #expect(try read(recording([marked + marked])).warnings == [warning])
    let enter = report("1, 0, 4, 4, 30", "1, 0, 1, 28, 1")
    #expect(try read(recording([enter])).warnings == [warning])
    let letterA = report("1, 0, 4, 4, 30", "1, 0, 1, 30, 1") + report("1, 0, 1, 28, 0")
    #expect(try read(recording([letterA])).warnings == [])
  }

  @Test(
    "a line that the tool does not write is reported with its number, after the events before it",
    arguments: [
      ("  - [1, 0, 1, 30]", "the event is not a list of five numbers"),
      ("  - [1, 0, 1, 30, 1, 7]", "the event is not a list of five numbers"),
      ("  - [1, 0, 1, KEY_A, 1]", "the event is not a list of five numbers"),
      ("  - [1, 0, 1, 30, 0x1]", "the event is not a list of five numbers"),
      ("  - [1, 0, 1, [30], 1]", "the event is not a list of five numbers"),
      ("  - [1, 0, 1, , 1]", "the event is not a list of five numbers"),
      ("  - [1, 0, 1, 30, 1", "the event is not a list of five numbers"),
      ("  - [1 0 1 30 1]", "the event is not a list of five numbers"),
      ("  - [-1, 0, 1, 30, 1]", "event time -1, 0 is not seconds and microseconds"),
      ("  - [1, 1000000, 1, 30, 1]", "event time 1, 1000000 is not seconds and microseconds"),
      ("  - [9223372036854, 999999, 1, 30, 1]", "event time 9223372036854 s is too large"),
      ("  - [1, 0, 65536, 30, 1]", "event type 65536 is out of range"),
      ("  - [1, 0, 1, -3, 1]", "event code -3 is out of range"),
      ("  - [1, 0, 1, 30, 2147483648]", "event value 2147483648 is out of range"),
      ("  - [1, 0, 1, 768, 1]", "key code 768 is above 767"),
      ("  - [1, 0, 1, 30, 3]", "key value 3 is not 0, 1 or 2"),
      ("  - (1, 0, 1, 30, 1]", "neither an event nor the beginning of another entry"),
      ("  - - 1", "neither an event nor the beginning of another entry"),
      ("words", "neither an event nor the beginning of another entry"),
      (
        "- evdev: [[1, 0, 1, 30, 1]]",
        #"unexpected "[[1": each event has a line of its own"#
      ),
    ])
  func badLine(_ line: String, _ message: String) throws {
    let good = report("0, 1, 1, 30, 1", "0, 1, 0, 0, 0")
    let file = recording(["\(good)\(line)\n\(good)"])
    let outcome = try read(file)
    #expect(outcome.error == "FILE:11: \(message)")
    #expect(try outcome.events == [event(1, 30, .press)])

    let lenient = try read(file, isLenient: true)
    #expect(lenient.error == nil)
    #expect(lenient.events.count == 2)
    #expect(lenient.skipped.count == 1)
    #expect(lenient.skipped.first?.line == 11)
  }

  @Test("events in the line of their list are a fault, and so is an event outside of a report")
  func otherLayouts() throws {
    let flow = try read(
      "version: 1\ndevices:\n- node: x\n  events: [{evdev: [[1, 0, 1, 30, 1]]}]\n")
    #expect(flow.error == #"FILE:4: unexpected "[{evdev:": each event has a line of its own"#)
    for entry in ["- evdex:", "- keymoded: lost", "- libinput:"] {
      let outside = try read(recording(["\(entry)\n  - [1, 0, 1, 30, 1]\n"]))
      #expect(outside.error == "FILE:9: an event outside of a report")
      #expect(outside.events == [])
    }
  }

  @Test("a recording that was cut off within an event is reported, after the events before it")
  func cutOff() throws {
    let text = recording([report("0, 1, 1, 30, 1", "0, 7, 1, 30, 0")])
    for lost in 1...10 {
      let outcome = try read(String(text.dropLast(lost)))
      #expect(outcome.error == "FILE:10: the recording is cut off here")
      #expect(try outcome.events == [event(1, 30, .press)])
    }
  }

  @Test(
    "other texts and unknown versions are refused",
    arguments: [
      ("version: 2\nndevices: 1\n", "FILE:1: unknown format version '2'; expected 1"),
      ("version: [1]\nndevices: 1\n", "FILE:1: unknown format version '[1'; expected 1"),
      ("", "FILE: not a recording"), ("# a text\n", "FILE: not a recording"),
      ("version: 1\n", "FILE: not a recording"), ("- a\n- list\n", "FILE: not a recording"),
    ])
  func other(_ text: String, _ error: String) throws {
    for isLenient in [false, true] {
      let outcome = try read(text, format: .libinput, isLenient: isLenient)
      #expect(outcome.error == error)
      #expect(outcome.inputs == [])
    }
  }
}
