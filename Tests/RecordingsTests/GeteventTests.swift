import KeyboardModes
import Keyboards
import Recordings
import Testing

@Suite("Recordings of Android's getevent")
struct GeteventTests {
  @Test("the key events of each device are returned, given by numbers or by names")
  func whole() throws {
    let outcome = try read(
      """
      add device 1: /dev/input/event2
        name:     "gpio-keys"
      could not get driver version for /dev/input/mice, Not a typewriter
      [    1234.567890] /dev/input/event2: 0004 0004 00000042           \u{20}
      [    1234.567890] /dev/input/event2: 0001 002a 00000001           \u{20}
      [    1234.567890] /dev/input/event2: 0000 0000 00000000            rate 3
      [    1234.700000] /dev/input/event5: EV_KEY       KEY_A                DOWN               \u{20}
      [    1234.700000] /dev/input/event5: EV_SYN       SYN_REPORT           00000000           \u{20}
      [    1234.950000] /dev/input/event5: EV_KEY       KEY_A                REPEAT             \u{20}
      [    1234.960000] /dev/input/event5: EV_KEY       KEY_A                UP                 \u{20}
      [    1234.960000] /dev/input/event5: EV_ABS       ABS_MT_POSITION_X    ffffff9c           \u{20}
      [    1235.000000] /dev/input/event2: 0001 002a 00000000
      remove device 1: /dev/input/event2

      """)
    #expect(outcome.error == nil)
    #expect(
      try outcome.events == [
        event(1_234_567_890, 42, .press), event(1_234_700_000, 30, .press),
        event(1_234_950_000, 30, .autorepeat), event(1_234_960_000, 30, .release),
        event(1_235_000_000, 42, .release),
      ])
    #expect(outcome.devices == [0, 1, 1, 1, 0])
    #expect(outcome.inputs.last == .gone(DeviceID(order: 0), at: Time(microseconds: 1_235_000_000)))
  }

  @Test("a removed device is reported, and another one may get its path")
  func removed() throws {
    let outcome = try read(
      """
      [1.000000] /dev/input/event0: EV_KEY KEY_LEFTCTRL DOWN
      [1.000000] /dev/input/event1: EV_KEY KEY_A DOWN
      remove device 4: /dev/input/event0
      remove device 5: /dev/input/event7
      add device 6: /dev/input/event0
      [2.000000] /dev/input/event0: EV_KEY KEY_B DOWN

      """)
    #expect(outcome.error == nil)
    let devices = (0..<3).map { DeviceID(order: $0) }
    #expect(
      try outcome.inputs == [
        .key(devices[0], event(1_000_000, 29, .press)),
        .key(devices[1], event(1_000_000, 30, .press)),
        .gone(devices[0], at: Time(microseconds: 1_000_000)),
        .key(devices[2], event(2_000_000, 48, .press)),
      ])
  }

  @Test("more devices than the kernel allows are refused")
  func tooManyDevices() throws {
    let lines = (0...1024).map { "[1.000000] /dev/input/event\($0): EV_KEY KEY_A DOWN\n" }
    let outcome = try read(lines.joined())
    #expect(outcome.error == "FILE:1025: more than 1024 devices")
    #expect(outcome.events.count == 1024)
  }

  @Test(
    "an event is read with and without names, spaces and a device",
    arguments: [
      "[       3.000042] 0001 001e 00000001", "[3.000042] EV_KEY KEY_A DOWN",
      "[       3.000042] /dev/input/event0: 0001 001e 00000001",
      "[       3.000042] EV_KEY       001e                 00000001",
    ])
  func styles(_ line: String) throws {
    for end in ["\n", "\r\n"] {
      let outcome = try read(line + end, format: .getevent)
      #expect(outcome.error == nil)
      #expect(try outcome.events == [event(3_000_042, 30, .press)])
    }
  }

  @Test("names of keys that only Android has are ignored")
  func androidNames() throws {
    let outcome = try read(
      """
      [1.000000] EV_KEY       KEY_OF_ANDROID       DOWN
      [1.000000] EV_KEY       KEY_BRIGHTNESS_TOGGL DOWN
      [1.000000] EV_KEY       BTN_OF_ANDROID       DOWN
      [3.000042] EV_KEY       KEY_A                DOWN\r\r

      """)
    #expect(outcome.error == nil)
    #expect(try outcome.events == [event(3_000_042, 30, .press)])
  }

  @Test("a key is known by each of the kernel's names")
  func secondNames() throws {
    let outcome = try read("[3.000042] EV_KEY       KEY_WIMAX            DOWN\n")
    #expect(try outcome.events == [event(3_000_042, 246, .press)])
  }

  @Test("every name of a key is read, however many spaces and tabs are around it")
  func allNames() throws {
    let codes = (0...KeyCode.max).filter { eventCodeName(1, $0) != nil }
    let all = codes + codes.reversed()
    let lines = all.enumerated().map { index, code in
      let space =
        [" ", "\t", "        ", " \t      \t"][index % 4]
        + String(repeating: " ", count: index % 23)
      let fields = ["[3.000042]", "EV_KEY", eventCodeName(1, code) ?? "", "DOWN"]
      return fields.joined(separator: space) + (index.isMultiple(of: 3) ? space : "") + "\n"
    }
    let outcome = try read(lines.joined())
    #expect(outcome.error == nil)
    let expected = try all.enumerated().map {
      try event(3_000_042, Int($1), .press, continuesFrame: $0 > 0)
    }
    #expect(outcome.events == expected)
  }

  @Test("events between SYN_DROPPED and the next report of the same device are skipped")
  func dropped() throws {
    let outcome = try read(
      """
      [1.000000] /dev/input/event0: EV_SYN SYN_DROPPED 00000000
      [1.000000] /dev/input/event0: EV_KEY KEY_A DOWN
      [1.000000] /dev/input/event1: EV_KEY KEY_B DOWN
      [1.000000] /dev/input/event0: EV_SYN SYN_MT_REPORT 00000000
      [1.000000] /dev/input/event1: EV_SYN SYN_REPORT 00000000
      [1.000000] /dev/input/event0: EV_KEY KEY_A UP
      [1.000000] /dev/input/event0: EV_SYN SYN_REPORT 00000000
      [2.000000] /dev/input/event0: EV_KEY KEY_C DOWN

      """)
    #expect(outcome.error == nil)
    #expect(try outcome.events == [event(1_000_000, 48, .press), event(2_000_000, 46, .press)])
  }

  @Test(
    "a bad getevent line is reported with its number, after the events before it",
    arguments: [
      ("/dev/input/event0: 0001 001e 00000001", "an event without a time: getevent needs -t"),
      ("[1.5] 0001 001e 00000001", #"event time "1.5" does not have six digits after the point"#),
      ("[1.000000 0001 001e 00000001", "the time has no closing ']'"),
      ("[1.000000] 0001 001e", "neither an event nor a line about a device"),
      ("[1.000000] hello", "neither an event nor a line about a device"),
      ("[1.000000] EV_KEY NOPE DOWN", #"unknown event code "NOPE""#),
      ("[1.000000] 0001 001e 00000001 [1.0000", #"unexpected "[1.0000" after the event"#),
      ("[1.000000] 0001 001e 00000001 junk", #"unexpected "junk" after the event"#),
      ("[1.000000] EV_SYN NOPE 00000000", #"unknown event code "NOPE""#),
      (
        "[1.000000] /dev/input/event0:0001 001e 00000001",
        "neither an event nor a line about a device"
      ),
      ("[1.000000] 0001 001e 1", #"unknown event value "1""#),
      ("[1.000000] 0001 001e ffffffff", "key value -1 is not 0, 1 or 2"),
      ("[1.000000] 0001 0300 00000001", "key code 768 is above 767"),
    ])
  func badLine(_ line: String, _ message: String) throws {
    let outcome = try read("[0.000001] /dev/input/event0: 0001 001e 00000001\n\(line)\n")
    #expect(outcome.error == "FILE:2: \(message)")
    #expect(try outcome.events == [event(1, 30, .press)])
  }

  @Test("the path of the device that had the last event names another one after its removal")
  func removedLast() throws {
    let outcome = try read(
      """
      [1.000000] /dev/input/event0: EV_KEY KEY_LEFTCTRL DOWN
      remove device 1: /dev/input/event0
      add device 2: /dev/input/event0
      [2.000000] /dev/input/event0: EV_KEY KEY_B DOWN

      """)
    #expect(outcome.devices == [0, 1])
  }
}
