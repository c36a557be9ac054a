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

  @Test("redacted, all characters have one code, and Shift keeps its own")
  func redacted() throws {
    var filter = try filter(showsKeyCodes: false)
    let written = try filter.handle(
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
}
