import KeyboardModes
import Keyboards
import Testing

@testable import Recordings

@Suite("Recording: filter")
struct RecordingFilterTests {
  private let device = DeviceID(order: 0)

  private func key(
    _ name: String, _ action: KeyEvent.Action, at time: Int64
  ) throws -> Controller.Input {
    let key = try #require(KeyCode(name: name))
    return .key(device, KeyEvent(time: Time(microseconds: time), key: key, action: action))
  }

  private func filter(showsKeyCodes: Bool) throws -> RecordingFilter {
    var keys = KeySet()
    for name in ["KEY_LEFTCTRL", "KEY_LEFTSHIFT", "KEY_1", "KEY_A", "KEY_Q"] {
      keys.insert(try #require(KeyCode(name: name)))
    }
    var filter = RecordingFilter(settings: Settings(), showsKeyCodes: showsKeyCodes)
    filter.add(device, keys: keys)
    return filter
  }

  @Test("with key codes shown, inputs are written as they are")
  func shown() throws {
    var filter = try filter(showsKeyCodes: true)
    let inputs = try [
      .opened(device, held: []), key("KEY_Q", .press, at: 1), key("KEY_Q", .release, at: 2),
    ]
    #expect(filter.take(Batch(inputs)) { _, _ in [] } == inputs)
  }

  @Test("redacted, all characters have one code, and Shift keeps its own")
  func redacted() throws {
    var filter = try filter(showsKeyCodes: false)
    let written = try filter.take(
      Batch([
        key("KEY_Q", .press, at: 1), key("KEY_Q", .release, at: 2),
        key("KEY_LEFTSHIFT", .press, at: 3),
        key("KEY_A", .press, at: 4),
      ])
    ) { _, _ in [] }
    #expect(
      try written == [
        key("KEY_1", .press, at: 1), key("KEY_1", .release, at: 2),
        key("KEY_LEFTSHIFT", .press, at: 3), key("KEY_1", .press, at: 4),
      ])
  }

  @Test("redacted, LEDs stay, and the key of a lock has the code of any such key")
  func locks() throws {
    var filter = try filter(showsKeyCodes: false)
    let report = LEDReport(Lock.caps.led, on: Lock.caps.led)
    let leds = [nil, Time(microseconds: 2)].map { Controller.Input.leds(device, report, at: $0) }
    let written = try filter.take(
      Batch([leds[0], key("KEY_CAPSLOCK", .press, at: 1), leds[1]])
    ) { _, _ in [] }
    #expect(written.count == 3)
    #expect([written.first, written.last] == leds)
    #expect(try written[1] != key("KEY_CAPSLOCK", .press, at: 1))
  }

  @Test("a release that a grab hid is written before the press that depends on it")
  func missedRelease() throws {
    var filter = try filter(showsKeyCodes: true)
    let control = try #require(KeyCode(name: "KEY_LEFTCTRL"))
    let press = try key("KEY_A", .press, at: 9)
    var asked: [[KeyCode]] = []
    let written = filter.take(Batch([try key("KEY_LEFTCTRL", .press, at: 1), press])) { keys, _ in
      asked.append(keys)
      return keys
    }
    #expect(asked == [[control]])
    #expect(
      try written == [
        key("KEY_LEFTCTRL", .press, at: 1),
        .missedRelease(device, control, at: Time(microseconds: 9)), press,
      ])
  }

  @Test("devices have their indices, and one that was taken out has none")
  func devices() {
    var devices = RecordedDevices()
    for order in [7, 5, 3] {
      devices.add(
        DeviceID(order: order),
        DeviceDescription(name: "\(order)", node: "", bus: 0, vendor: 0, product: 0, version: 0))
    }
    #expect(devices.descriptions.map(\.name) == ["7", "5", "3"])
    devices.remove(DeviceID(order: 5))
    #expect(devices.index(of: DeviceID(order: 5)) == nil)
    devices.remove(DeviceID(order: 4))
    #expect(devices.descriptions.map(\.name) == ["7", "3"])
    #expect(devices.index(of: DeviceID(order: 3)) == 1)
    #expect(devices.index(of: DeviceID(order: 4)) == nil)
  }
}
