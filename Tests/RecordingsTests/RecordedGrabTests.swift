import Foundation
import KeyboardModes
import Keyboards
import Recordings
import TestSupport
import Testing

@testable import Recordings

/// A grab hides releases. The kernel tells of them later, and a recording has to have them where they
/// took effect.
@Suite("Recording: releases that a grab hid")
struct RecordedGrabTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The events of F9's press and release, and of F10's press, change the keyboard machine.
  private func settings() throws -> Settings {
    var settings = Settings()
    let events: [(String, String, ChordTrigger)] = [
      ("clickMoreButton", "KEY_F9", .press), ("tapBlankArea", "KEY_F9", .release),
      ("clickSwitchButton", "KEY_F10", .press), ("tapTextField", "KEY_LEFTCTRL", .release),
    ]
    settings.bindings = Bindings()
    for (name, key, use) in events {
      let event = try #require(settings.keyboard.event(named: name))
      #expect(settings.bindings.bind(try Chord([self.key(key)]), use, to: event) == nil)
    }
    return settings
  }

  private func key(_ name: String) throws -> KeyCode { try #require(KeyCode(name: name)) }

  /// Expects that a recording of `batches`, plain and redacted, replays to the changes of the daemon.
  private func expectSameChanges(
    _ batches: [Batch], devices: [DeviceID], _ settings: Settings,
    keysUp: (Int, [KeyCode], DeviceID) -> [KeyCode]
  ) throws {
    var live: [Change] = []
    var daemon = Controller(settings: settings)
    for (index, batch) in batches.enumerated() {
      live += daemon.handle(batch, keysUp: { keysUp(index, $0, $1) })
    }
    let end = batches.last?.reached ?? Time(microseconds: 0)
    live += daemon.end(at: end)
    for isPlain in [true, false] {
      let path = "\(folder.path)/\(UUID())"
      var filter = RecordingFilter(settings: settings, showsKeyCodes: isPlain)
      let keys = KeySet((1...KeyCode.max).compactMap(KeyCode.init))
      for device in devices { filter.add(device, keys: keys) }
      let description = DeviceDescription(
        name: "", node: "", bus: 0, vendor: 0, product: 0, version: 0)
      let file = try RecordingFile(
        path, Array(repeating: description, count: devices.count),
        parents: devices.map { isPlain ? $0.parent ?? $0.order : $0.order }, remarks: [])
      for (index, batch) in batches.enumerated() {
        file.add(filter.handle(batch) { keysUp(index, $0, $1) })
        try file.flush()
      }
      try file.finish()
      var replayed: [Change] = []
      var controller = Controller(settings: settings)
      var recording = try Recording(opening: [path])
      while let batch = try recording.next() {
        for next in batch.inputs { replayed += controller.handle(next) }
      }
      replayed += controller.end(at: end)
      let text = try String(contentsOfFile: path, encoding: .utf8)
      #expect(replayed == live, "\(isPlain ? "" : "redacted, ")of\n\(text)")
    }
  }

  /// Two of the keyboards are nodes of one in half of the cases.
  @Test("random keys and LEDs of three keyboards under random grabs", arguments: 0..<80)
  func random(_ seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    let devices = (0..<3).map { DeviceID(order: $0, parent: seed % 2 == 1 && $0 < 2 ? 0 : nil) }
    let keys = try [
      "KEY_LEFTSHIFT", "KEY_LEFTCTRL", "KEY_A", "KEY_F5", "KEY_F9", "KEY_F10", "KEY_LEFT",
    ].map(key)
    var settings = try settings()
    if Bool.random(using: &generator) { settings.debounce = .milliseconds(5) }
    if Bool.random(using: &generator) { settings.shift = ShiftRules(timeout: .milliseconds(300)) }
    var now: Int64 = 0
    var isGrabbed = [false, false, false]
    var down = [Set<KeyCode>](repeating: [], count: 3)
    var known: [[Set<KeyCode>]] = []
    var batches = [Batch(start(devices, &generator), reached: Time(microseconds: 0))]
    var isGone = [false, false, false]
    known.append(down)
    for _ in 0..<200 {
      let next = now + ([1, 2, 900, 100_000].randomElement(using: &generator) ?? 1)
      var inputs: [Controller.Input] = []
      for _ in 0..<Int.random(in: 0...3, using: &generator) {
        let device = Int.random(in: 0..<3, using: &generator)
        guard !isGone[device] else { continue }
        let time = Time(microseconds: Int64.random(in: now + 1...next, using: &generator))
        if Int.random(in: 0..<3, using: &generator) == 0 {
          inputs.append(leds(devices[device], at: time, &generator))
          continue
        }
        if Int.random(in: 0..<5, using: &generator) == 0 { isGrabbed[device].toggle() }
        let key = keys.randomElement(using: &generator) ?? keys[0]
        let action: KeyEvent.Action = down[device].contains(key) ? .release : .press
        if action == .press { down[device].insert(key) } else { down[device].remove(key) }
        guard !isGrabbed[device] else { continue }
        inputs.append(.key(devices[device], KeyEvent(time: time, key: key, action: action)))
      }
      inputs = inOrder(inputs)
      now = next
      // What is asked for, and the end of a device, come behind all that has been read.
      let device = Int.random(in: 0..<60, using: &generator)
      if device < 3, !isGone[device] {
        now += 1
        isGone[device] = device > 0 && Bool.random(using: &generator)
        let time = Time(microseconds: now)
        inputs.append(
          isGone[device]
            ? .gone(devices[device], at: time) : leds(devices[device], at: time, &generator))
      }
      known.append(down)
      batches.append(
        Batch(
          inputs, reached: Time(microseconds: now),
          noInputBefore: Time(microseconds: now - 1000)))
    }
    try expectSameChanges(batches, devices: devices, settings) { index, keys, device in
      keys.filter { !known[index][device.order].contains($0) }
    }
  }

  /// Two devices are opened with LEDs. The first of them has an event at the same time: a recording
  /// tells the LEDs at the time of its first event.
  private func start(
    _ devices: [DeviceID], _ generator: inout SplitMix64
  ) -> [Controller.Input] {
    let time = Time(microseconds: 0)
    let opened = devices.prefix(2).map { leds($0, at: nil, &generator) }
    return opened + [.allOpened(at: time), leds(devices[0], at: time, &generator)]
  }

  private func leds(
    _ device: DeviceID, at time: Time?, _ generator: inout SplitMix64
  ) -> Controller.Input {
    let led = Bool.random(using: &generator) ? Lock.caps.led : Lock.num.led
    let report = LEDReport(led, on: .random(using: &generator) ? led : [])
    return .leds(device, report, at: time)
  }

  /// The order in which the daemon reads inputs of several devices.
  private func inOrder(_ inputs: [Controller.Input]) -> [Controller.Input] {
    func place(_ input: Controller.Input) -> (Int64, Int) {
      let device = input.device?.order ?? 0
      return switch input {
      case .key(_, let event): (event.time.microseconds, device)
      case .leds(_, _, let time): (time?.microseconds ?? 0, device)
      default: (0, device)
      }
    }
    return inputs.sorted { place($0) < place($1) }
  }
}
