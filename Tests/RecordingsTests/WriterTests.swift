import Foundation
import KeyboardModes
import Keyboards
import TestSupport
import Testing

@testable import Recordings

private let keyboard: DeviceDescription = {
  var device = DeviceDescription(
    name: "A \"keyboard\": \\ # [2]", node: "/dev/input/event4", bus: 0x11, vendor: 1,
    product: 0xabc, version: 0xab41)
  device.properties = [0, 2]
  device.types = [
    .init(number: 0, codes: [0, 1, 4, 17, 20]),
    .init(number: 1, codes: [1, 30, 42, 767]),
    .init(number: 3, codes: [0]), .init(number: 5, codes: [0, 3]),
    .init(number: 17, codes: [0, 1]),
  ]
  device.axes = [
    .init(code: 0, minimum: -1, maximum: 255, fuzz: 2, flat: 3, resolution: 12)
  ]
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
      .key(device, try event(1_500_000, 30, .release, continuesFrame: true)),
      .key(device, try event(1_733_001, 0x249, .autorepeat)),
      .leds(device, LEDReport([caps, num], on: num), at: Time(microseconds: 1_800_000)),
      .synchronized(
        device, [.init(key: try key(42), isDown: false), .init(key: try key(46), isDown: true)],
        at: Time(microseconds: 12_000_000)),
      .synchronized(device, [], at: Time(microseconds: 13_000_000)),
      .gone(device, at: Time(microseconds: 14_000_020)),
    ]
  }

  private let caps = Lock.caps.led
  private let num = Lock.num.led

  @Test("a libinput recording looks like one of libinput record, with keys for notes")
  func libinput() throws {
    let folder = try TemporaryFolder()
    let file = try RecordingFile("\(folder.path)/x", [keyboard], remarks: ["a remark"])
    file.add(try inputs())
    try file.flush()
    #expect(
      try String(contentsOfFile: "\(folder.path)/x", encoding: .utf8) == """
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

  @Test("device names are escaped")
  func names() throws {
    var device = keyboard
    for name in ["", "a\n- [1, 0, 1, 30, 1]", "\u{1}\u{7f}\u{85}\u{2028}é\"", "a: {b\r\n"] {
      device.name = name
      let outcome = try read(
        LibinputWriter.header(devices: 1, remarks: []) + LibinputWriter.section(device))
      #expect(outcome.error == nil)
      #expect(outcome.inputs == [])
    }
  }

  @Test("a written recording is read as the inputs that were recorded", arguments: 0..<50)
  func roundTrip(_ seed: Int) throws {
    var generator = SplitMix64(seed: UInt64(seed))
    let several = (0..<3).map { DeviceID(order: $0) }
    let taken = try randomInputs(several, &generator)
    var text = LibinputWriter.header(devices: 3, remarks: ["three"])
    for id in several {
      var writer = LibinputWriter()
      text += LibinputWriter.section(keyboard)
      for (_, input) in taken where input.device == id { text += writer.text(of: input) }
    }
    let outcome = try read(text)
    #expect(outcome.error == nil)
    #expect(outcome.inputs == taken.map(\.input))
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
