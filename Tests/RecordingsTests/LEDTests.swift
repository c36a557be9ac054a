import KeyboardModes
import Recordings
import TestSupport
import Testing

private let device = DeviceID(order: 0)
private let (caps, num) = (Lock.caps.led, Lock.num.led)

private func leds(
  _ led: LEDs, _ isOn: Bool, at microseconds: Int64?, _ device: DeviceID = device
) -> Controller.Input {
  .leds(device, LEDReport(led, on: isOn ? led : []), at: microseconds.map(Time.init))
}

@Suite("LEDs in recordings")
struct LEDTests {
  /// In each format: Caps Lock on, and 1 µs later Scroll Lock on, Num Lock off, A pressed.
  static let formats: [(RecordingFormat, String)] = [
    (
      .evemu,
      """
      E: 1.000000 0011 0001 0001
      E: 1.000000 0000 0000 0000
      E: 1.000001 0011 0002 0001
      E: 1.000001 0011 0000 0000
      E: 1.000001 0001 001e 0001

      """
    ),
    (
      .libinput,
      """
        events:
        - evdev:
          - [1, 0, 17, 1, 1]
          - [1, 0, 0, 0, 0]
        - evdev:
          - [1, 1, 17, 2, 1]
          - [1, 1, 17, 0, 0]
          - [1, 1, 1, 30, 1]

      """
    ),
    (
      .evtest,
      """
      Event: time 1.000000, type 17 (EV_LED), code 1 (LED_CAPSL), value 1
      Event: time 1.000000, -------------- SYN_REPORT ------------
      Event: time 1.000001, type 17 (EV_LED), code 2 (LED_SCROLLL), value 1
      Event: time 1.000001, type 17 (EV_LED), code 0 (LED_NUML), value 0
      Event: time 1.000001, type 1 (EV_KEY), code 30 (KEY_A), value 1

      """
    ),
    (
      .getevent,
      """
      [1.000000] EV_LED       LED_CAPSL            00000001
      [1.000000] EV_SYN       SYN_REPORT           00000000
      [1.000001] EV_LED       LED_SCROLLL          00000001
      [1.000001] EV_LED       LED_NUML             00000000
      [1.000001] EV_KEY       KEY_A                DOWN

      """
    ),
  ]

  private func expectLEDs(_ outcome: Outcome) throws {
    #expect(outcome.error == nil)
    #expect(
      try outcome.inputs == [
        leds(caps, true, at: 1_000_000), leds(num, false, at: 1_000_001),
        .key(device, event(1_000_001, 30, .press)),
      ])
  }

  @Test(
    "those of the locks are read in order with keys, and others are nothing", arguments: formats)
  func events(_ format: RecordingFormat, _ text: String) throws {
    try expectLEDs(try read(text, format: format))
  }

  @Test("raw records have them too", arguments: [8, 4])
  func raw(_ word: Int) throws {
    let records = [
      record(1, 0, 17, 1, 1, word: word), record(1, 0, 0, 0, 0, word: word),
      record(1, 1, 17, 2, 1, word: word), record(1, 1, 17, 0, 0, word: word),
      record(1, 1, 1, 30, 1, word: word),
    ]
    try expectLEDs(try Outcome(records.flatMap { $0 }, format: word == 8 ? .raw64 : .raw32))
  }

  @Test("any value but 0 is on")
  func values() throws {
    let text = "E: 1.000000 0011 0001 0002\nE: 2.000000 0011 0001 -001\n"
    #expect(
      try read(text).inputs == [leds(caps, true, at: 1_000_000), leds(caps, true, at: 2_000_000)])
  }

  @Test("evemu's header tells which LEDs a device had and which were on, without a time")
  func header() throws {
    let outcome = try read(
      """
      # EVEMU 1.3
      N: a keyboard
      I: 0011 0001 0001 ab41
      B: 11 07 00 00 00 00 00 00 00
      L: 00 0
      L: 01 1 # Caps Lock
      L: 02 1
      E: 1.000000 0011 0001 0000

      """)
    #expect(outcome.error == nil)
    #expect(
      outcome.inputs == [
        leds(num, false, at: nil), leds(caps, true, at: nil), leds(caps, false, at: 1_000_000),
      ])
    #expect(try read("# EVEMU 1.3\nB: 11 07 00 00 00 00 00 00 00\n").inputs == [])
  }

  @Test("the notes of keymodectl tell the same in libinput's format, of each device")
  func notes() throws {
    let outcome = try read(
      """
      version: 1
      ndevices: 2
      devices:
      - node: x
        events:
        - keymoded: {lit: [0, 2, 99999]}
        - keymoded: {unlit: [1]}
        - evdev:
          - [1, 0, 17, 1, 1]
      - node: y
        events:
        - keymoded: {unlit: [0, 1]}

      """)
    #expect(outcome.error == nil)
    #expect(
      outcome.inputs == [
        leds(num, true, at: nil), leds(caps, false, at: nil),
        leds([caps, num], false, at: nil, DeviceID(order: 1)), leds(caps, true, at: 1_000_000),
      ])
  }

  @Test(
    "a damaged line about an LED is reported",
    arguments: [
      ("# EVEMU 1.3\nL: 01 x\n", #"event value "x" is not a decimal number"#),
      ("# EVEMU 1.3\nL: 01\n", "an event without a value"),
      ("# EVEMU 1.3\nE: 1.000000 0011 0001 on\n", #"event value "on" is not a decimal number"#),
      ("# EVEMU 1.3\nE: 1.000000 0011 0001\n", "an event without a value"),
      ("  events:\n  - keymoded: {lit: [one]}\n", "the LEDs are not a list of numbers"),
      ("  events:\n  - keymoded: {unlit: [1}\n", "the LEDs are not a list of numbers"),
      (
        "[1.000000] 0001 001e 00000001\n[1.000000] EV_LED LED_CAPSL ON\n",
        #"unknown event value "ON""#
      ),
      (
        "[1.000000] 0001 001e 00000001\n[1.000000] EV_LED CAPSL 00000001\n",
        #"unknown event code "CAPSL""#
      ),
    ])
  func damaged(_ text: String, _ message: String) throws {
    #expect(try read(text).error == "FILE:2: \(message)")
  }

  @Test("events between SYN_DROPPED and the next report are skipped, and others of a loss are not")
  func losses() throws {
    let dropped = try read(
      """
      E: 1.000000 0000 0003 0000
      E: 1.000000 0011 0001 0001
      E: 1.000000 0000 0000 0000
      E: 2.000000 0011 0001 0001

      """)
    #expect(dropped.inputs == [leds(caps, true, at: 2_000_000)])
    let lost = try read(
      """
        events:
        - keymoded: lost
        - evdev:
          - [3, 0, 17, 1, 1]
          - [3, 0, 0, 0, 0]

      """)
    #expect(
      lost.inputs == [
        leds(caps, true, at: 3_000_000),
        .synchronized(device, [], at: Time(microseconds: 3_000_000)),
      ])
  }

  @Test("a device of getevent is gone at the time of its last LED event")
  func gone() throws {
    let text = """
      [1.000000] /dev/input/event0: 0001 001e 00000001
      [2.000000] /dev/input/event0: 0011 0001 00000001
      remove device 1: /dev/input/event0

      """
    #expect(try read(text).inputs.last == .gone(device, at: Time(microseconds: 2_000_000)))
  }

  // MARK: The virtual keyboard

  @Test(
    "the keys of the virtual keyboard are nothing in evemu's format, and its LEDs count",
    arguments: [("0006 6b6d 7368 0001", false), ("0006 6b6d 7369 0001", true), ("0006", true)])
  func virtualShift(_ ids: String, _ hasKeys: Bool) throws {
    let outcome = try read(
      """
      # EVEMU 1.3
      N: keymoded Shift
      I: \(ids)
      L: 01 0
      E: 1.000000 0001 002a 0001
      E: 1.000000 0000 0000 0000
      E: 1.000001 0011 0001 0001

      """)
    #expect(outcome.error == nil)
    let keys: [Controller.Input] = hasKeys ? [.key(device, try event(1_000_000, 42, .press))] : []
    #expect(
      outcome.inputs == [leds(caps, false, at: nil)] + keys + [leds(caps, true, at: 1_000_001)])
  }

  @Test("and so they are in libinput's, whose other devices keep theirs")
  func virtualShiftOfLibinput() throws {
    func section(_ ids: String) -> String {
      """
      - node: x
        evdev:
          name: "keymoded Shift"
          id: \(ids)
        events:
        - keymoded: {held: [42]}
        - evdev:
          - [1, 0, 1, 42, 1]
          - [1, 0, 17, 1, 1]
          - [1, 0, 0, 0, 0]
        - keymoded: lost
        - evdev:
          - [2, 0, 1, 42, 0]
          - [2, 0, 0, 0, 0]

      """
    }
    let outcome = try read(
      "version: 1\nndevices: 3\ndevices:\n" + section("[6, 27501, 29544, 1]")
        + section("[6, 27501, 29545, 1]") + section("[6, 27501]"))
    #expect(outcome.error == nil)
    #expect(outcome.devices == [1, 2])
    let (shift, end) = (try #require(KeyCode(42)), Time(microseconds: 2_000_000))
    let (virtual, second) = (DeviceID(order: 0), DeviceID(order: 1))
    func inputs(of device: DeviceID) -> [Controller.Input] {
      outcome.inputs.filter { $0.device == device }
    }
    #expect(
      inputs(of: virtual) == [
        .opened(virtual, held: []), leds(caps, true, at: 1_000_000),
        .synchronized(virtual, [], at: end),
      ])
    #expect(
      try inputs(of: second) == [
        .opened(second, held: [shift]), .key(second, event(1_000_000, 42, .press)),
        leds(caps, true, at: 1_000_000, second),
        .synchronized(second, [KeyDifference(key: shift, isDown: false)], at: end),
      ])
  }
}
