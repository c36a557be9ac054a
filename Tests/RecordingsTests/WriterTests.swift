import KeyboardModes
import Keyboards
import Recordings
import TestSupport
import Testing

private let keyboard: DeviceDescription = {
  var device = DeviceDescription(
    name: "A \"keyboard\": \\ # [2]", node: "/dev/input/event4", bus: 0x11, vendor: 1,
    product: 0xabc, version: 0xab41)
  device.properties = [0, 2]
  device.types = [
    .init(number: 0, codes: [0, 1, 4, 17, 20], highest: 15),
    .init(number: 1, codes: [1, 30, 42, 767], highest: 767),
    .init(number: 3, codes: [0], highest: 63), .init(number: 5, codes: [0, 3], highest: 16),
    .init(number: 17, codes: [0, 1], highest: 15),
  ]
  device.axes = [
    .init(code: 0, minimum: -1, maximum: 255, fuzz: 2, flat: 3, resolution: 12)
  ]
  device.ledsOn = [1]
  device.switchesOn = [3]
  return device
}()

private func key(_ number: Int) throws -> KeyCode { try #require(KeyCode(number)) }

@Suite("Written recordings")
struct WriterTests {
  private let device = DeviceID(order: 0)

  private func inputs() throws -> [Controller.Input] {
    [
      .opened(device, held: [try key(29), try key(30)]),
      .leds(device, LEDReport([caps, num], on: caps), at: nil),
      .key(device, try event(1_500_000, 42, .press)),
      .key(device, try event(1_500_000, 30, .release)),
      .key(device, try event(1_733_001, 0x249, .autorepeat)),
      .leds(device, LEDReport([caps, num], on: num), at: Time(microseconds: 1_800_000)),
      .synchronized(
        device, [.init(key: try key(42), isDown: false), .init(key: try key(46), isDown: true)],
        at: Time(microseconds: 12_000_000)),
      .synchronized(device, [], at: Time(microseconds: 13_000_000)),
      .gone(device, at: Time(microseconds: 14_000_020)),
    ]
  }

  private let now = Time(microseconds: 14_000_020)
  private let caps = Lock.caps.led
  private let num = Lock.num.led

  @Test("an evemu recording looks like one of evemu-record, with notes in comments")
  func evemu() throws {
    var writer = EvemuWriter()
    let text =
      EvemuWriter.header(keyboard, remarks: ["a remark"])
      + Report.reports(of: try inputs(), at: now).map { writer.text(of: $0) }.joined()
    #expect(
      text == """
        # EVEMU 1.3
        # a remark
        N: A "keyboard": \\ # [2]
        I: 0011 0001 0abc ab41
        P: 05 00 00 00 00 00 00 00
        B: 00 2b 00 02 00 00 00 00 00
        B: 01 02 00 00 40 00 04 00 00
        \((0..<10).map { _ in "B: 01 00 00 00 00 00 00 00 00\n" }.joined())\
        B: 01 00 00 00 00 00 00 00 80
        B: 03 01 00 00 00 00 00 00 00
        B: 05 09 00 00 00 00 00 00 00
        B: 11 03 00 00 00 00 00 00 00
        A: 00 -1 255 2 3 12
        L: 00 0
        L: 01 1
        S: 00 0
        S: 03 1
        # keymoded: held 001d 001e
        E: 1.500000 0001 002a 0001\t# EV_KEY / KEY_LEFTSHIFT        1
        E: 1.500000 0001 001e 0000\t# EV_KEY / KEY_A                0
        E: 1.500000 0000 0000 0000\t# ------------ SYN_REPORT (0) ---------- +0ms
        E: 1.733001 0001 0249 0002\t# EV_KEY / KEY_EMOJI_PICKER     2
        E: 1.733001 0000 0000 0000\t# ------------ SYN_REPORT (0) ---------- +233ms
        E: 1.800000 0011 0001 0000\t# EV_LED / LED_CAPSL            0
        E: 1.800000 0011 0000 0001\t# EV_LED / LED_NUML             1
        E: 1.800000 0000 0000 0000\t# ------------ SYN_REPORT (0) ---------- +66ms
        # keymoded: lost
        E: 12.000000 0001 002a 0000\t# EV_KEY / KEY_LEFTSHIFT        0
        E: 12.000000 0001 002e 0001\t# EV_KEY / KEY_C                1
        E: 12.000000 0000 0000 0000\t# ------------ SYN_REPORT (0) ---------- +10200ms
        # keymoded: lost
        E: 13.000000 0000 0000 0000\t# ------------ SYN_REPORT (0) ---------- +1000ms
        # keymoded: gone 14.000020

        """)
  }

  @Test("a libinput recording looks like one of libinput record, with keys for notes")
  func libinput() throws {
    var writer = LibinputWriter()
    let text =
      LibinputWriter.header(devices: 1, remarks: ["a remark"]) + LibinputWriter.section(keyboard)
      + Report.reports(of: try inputs(), at: now).map { writer.text(of: $0) }.joined()
    #expect(
      text == """
        # a remark
        version: 1
        ndevices: 1
        devices:
        - node: /dev/input/event4
          evdev:
            name: "A \\"keyboard\\": \\\\ # [2]"
            id: [17, 1, 2748, 43841]
            codes:
              0: [0, 1] # EV_SYN
              1: [1, 30, 42, 767] # EV_KEY
              3: [0] # EV_ABS
              5: [0, 3] # EV_SW
              17: [0, 1] # EV_LED
            absinfo:
              0: [-1, 255, 2, 3, 12]
            properties: [0, 2]
          udev:
            properties: []
          quirks: []
          events:
          - keymoded: {held: [29, 30]}
          - keymoded: {lit: [1]}
          - keymoded: {unlit: [0]}
          - evdev:
            - [  1, 500000,   1,  42,       1] # EV_KEY / KEY_LEFTSHIFT        1
            - [  1, 500000,   1,  30,       0] # EV_KEY / KEY_A                0
            - [  1, 500000,   0,   0,       0] # ------------ SYN_REPORT (0) ---------- +0ms
          - evdev:
            - [  1, 733001,   1, 585,       2] # EV_KEY / KEY_EMOJI_PICKER     2
            - [  1, 733001,   0,   0,       0] # ------------ SYN_REPORT (0) ---------- +233ms
          - evdev:
            - [  1, 800000,  17,   1,       0] # EV_LED / LED_CAPSL            0
            - [  1, 800000,  17,   0,       1] # EV_LED / LED_NUML             1
            - [  1, 800000,   0,   0,       0] # ------------ SYN_REPORT (0) ---------- +66ms
          - keymoded: lost
          - evdev:
            - [ 12,      0,   1,  42,       0] # EV_KEY / KEY_LEFTSHIFT        0
            - [ 12,      0,   1,  46,       1] # EV_KEY / KEY_C                1
            - [ 12,      0,   0,   0,       0] # ------------ SYN_REPORT (0) ---------- +10200ms
          - keymoded: lost
          - evdev:
            - [ 13,      0,   0,   0,       0] # ------------ SYN_REPORT (0) ---------- +1000ms
          - keymoded: {gone: [14, 20]}

        """)
  }

  @Test("device names are escaped in both formats")
  func names() throws {
    var device = keyboard
    for name in ["", "a\nE: 1.000000 0001 001e 0001", "\u{1}\u{7f}\u{85}\u{2028}é\"", "a: {b\r\n"] {
      device.name = name
      let evemu = EvemuWriter.header(device, remarks: [])
      #expect(try read(evemu) == read(EvemuWriter.header(keyboard, remarks: [])))
      let yaml = LibinputWriter.header(devices: 1, remarks: []) + LibinputWriter.section(device)
      let outcome = try read(yaml)
      #expect(outcome.error == nil)
      #expect(outcome.inputs == [])
    }
  }

  @Test("a written recording is read as the inputs that were recorded", arguments: 0..<50)
  func roundTrip(_ seed: Int) throws {
    var generator = SplitMix64(seed: UInt64(seed))
    let several = (0..<3).map(DeviceID.init(order:))
    let taken = try randomInputs(several, &generator)
    var text = LibinputWriter.header(devices: 3, remarks: ["three"])
    for id in several {
      var writer = LibinputWriter()
      let own = taken.filter { $0.input.device == id }
      text += LibinputWriter.section(keyboard)
      for (time, input) in own {
        text += Report.reports(of: [input], at: time).map { writer.text(of: $0) }.joined()
      }
      var evemu = EvemuWriter()
      let lines = own.flatMap { Report.reports(of: [$0.input], at: $0.time) }
        .map { evemu.text(of: $0) }
      let outcome = try read(EvemuWriter.header(keyboard, remarks: []) + lines.joined())
      #expect(outcome.error == nil)
      // The header has the LEDs, and not as the device had them when it was opened.
      let written = own.compactMap { $0.input.of(DeviceID(order: 0)).inEvemu }
      #expect(outcome.inputs == headerLEDs + written)
    }
    let outcome = try read(text)
    #expect(outcome.error == nil)
    #expect(outcome.inputs == taken.map(\.input))
  }

  /// What the header of ``keyboard`` tells of its LEDs.
  private var headerLEDs: [Controller.Input] {
    [.leds(device, LEDReport(num), at: nil), .leds(device, LEDReport(caps, on: caps), at: nil)]
  }

  private func randomInputs(
    _ devices: [DeviceID], _ generator: inout SplitMix64
  ) throws -> [(time: Time, input: Controller.Input)] {
    func randomKey() throws -> KeyCode { try key(.random(in: 1...767, using: &generator)) }
    var inputs: [(time: Time, input: Controller.Input)] = []
    var now: Int64 = .random(in: 0...10_000_000_000, using: &generator)
    for device in devices {
      inputs.append((Time(microseconds: now), .opened(device, held: [try randomKey()])))
      let leds = [[], caps, num, [caps, num]][Int.random(in: 0..<4, using: &generator)]
      guard !leds.isEmpty else { continue }
      let report = LEDReport(leds, on: .random(using: &generator) ? leds : [])
      inputs.append((Time(microseconds: now), .leds(device, report, at: nil)))
    }
    for _ in 0..<200 {
      now += .random(in: 1...3_000_000, using: &generator)
      let time = Time(microseconds: now)
      let device = devices[.random(in: 0..<devices.count, using: &generator)]
      let action = KeyEvent.Action(rawValue: .random(in: 0...2, using: &generator)) ?? .press
      switch Int.random(in: 0..<20, using: &generator) {
      case 0:
        let found = try (0..<Int.random(in: 0..<5, using: &generator)).map { _ in
          KeyDifference(key: try randomKey(), isDown: .random(using: &generator))
        }
        inputs.append((time, .synchronized(device, found, at: time)))
      case 1: inputs.append((time, .gone(device, at: time)))
      case 2: inputs.append((time, .missedRelease(device, try randomKey(), at: time)))
      case 3, 4:
        let led = Bool.random(using: &generator) ? caps : num
        let report = LEDReport(led, on: .random(using: &generator) ? led : [])
        inputs.append((time, .leds(device, report, at: time)))
      default:
        let event = KeyEvent(time: time, key: try randomKey(), action: action)
        inputs.append((time, .key(device, event)))
      }
    }
    return inputs
  }
}

extension Controller.Input {
  /// As evemu's format has it, which needs no note for a release that a grab hid; `nil` for what
  /// its header has.
  fileprivate var inEvemu: Controller.Input? {
    switch self {
    case .missedRelease(let device, let key, let time):
      .key(device, KeyEvent(time: time, key: key, action: .release))
    case .leds(_, _, nil): nil
    default: self
    }
  }

  /// The same input, of another device.
  fileprivate func of(_ device: DeviceID) -> Controller.Input {
    switch self {
    case .opened(_, let held): .opened(device, held: held)
    case .key(_, let event): .key(device, event)
    case .missedRelease(_, let key, let time): .missedRelease(device, key, at: time)
    case .synchronized(_, let found, let time): .synchronized(device, found, at: time)
    case .gone(_, let time): .gone(device, at: time)
    case .leds(_, let report, let time): .leds(device, report, at: time)
    case .allOpened, .client, .configured: self
    }
  }
}
