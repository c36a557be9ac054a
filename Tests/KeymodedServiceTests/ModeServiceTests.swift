import KeyboardModes
import KeymodeInterface
import SystemCalls
import Testing

@testable import KeymodedService

/// Keyboards of which a test says what the kernel would say.
private final class FakeKeyboards: InputSource {
  var now = Time(microseconds: 0)
  var up: [KeyCode] = []
  private(set) var asked = 0

  func catchUp() {}
  var devices: [DeviceMessage] { [] }

  func keysUp(among keys: [KeyCode], on device: DeviceID) -> [KeyCode] {
    asked += 1
    return keys.filter(up.contains)
  }
}

private let first = DeviceID(order: 0)
private let second = DeviceID(order: 1)

private func input(
  _ device: DeviceID, _ milliseconds: Int64, _ number: Int, _ action: KeyEvent.Action
) throws -> Controller.Input {
  .key(
    device,
    KeyEvent(
      time: Time(microseconds: milliseconds * 1000), key: try #require(KeyCode(number)),
      action: action))
}

@Suite("The service: modifiers that a grab leaves held")
struct ModeServiceTests {
  private let shift = 42
  private let ctrl = 29
  private let c = 46

  @Test("are released before a press on another device rests on them")
  func released() throws {
    let keyboards = FakeKeyboards()
    let service = ModeService(settings: Settings(), source: keyboards)
    service.take([try input(second, 0, ctrl, .press), try input(first, 1, shift, .press)])
    service.take([try input(first, 700, c, .press)])
    #expect(service.controller.modes.shift == "on", "the kernel says that Ctrl is down")
    keyboards.up = [try #require(KeyCode(ctrl))]
    service.take([try input(first, 800, c, .press)])
    #expect(service.controller.modes.shift == "off")
    #expect(keyboards.asked == 2)
    service.take([try input(first, 900, c, .press)])
    #expect(keyboards.asked == 2, "nothing is held any more")
  }

  @Test("are none where their release is read in the same wakeup, and comes after the press")
  func sameWakeup() throws {
    func final(_ batches: [[Controller.Input]]) -> String {
      let keyboards = FakeKeyboards()
      keyboards.up = [KeyCode(ctrl)].compactMap { $0 }
      let service = ModeService(settings: Settings(), source: keyboards)
      for batch in batches { service.take(batch) }
      return service.controller.modes.shift
    }
    let inputs = [
      try input(first, 0, shift, .press), try input(first, 10, shift, .release),
      try input(second, 100, ctrl, .press), try input(first, 200, c, .press),
      try input(second, 300, ctrl, .release),
    ]
    #expect(final([inputs]) == "on", "Ctrl+C, and so no character")
  }
}

@Suite("The log")
struct LogTests {
  @Test("shows no control characters, whatever a device calls itself")
  func controlCharacters() {
    #expect(printable("Müller 键盘 \"x\"") == "Müller 键盘 \"x\"")
    #expect(
      printable("a\n<0>b\u{1b}[31m\u{7f}\u{9b}")
        == "a\u{fffd}<0>b\u{fffd}[31m\u{fffd}\u{fffd}")
    #expect(printable("a\u{2028}b\u{2029}c\u{85}") == "a\u{fffd}b\u{fffd}c\u{fffd}")
    #expect(
      printable("line\u{2028}bidi\u{202e}zero\u{200b}") == "line\u{fffd}bidi\u{fffd}zero\u{fffd}")
  }
}
