import Evdev
import KeyboardModes
import KeymodeInterface

@testable import KeymodedService

/// An input source whose times and key states a test sets.
final class FakeKeyboards: InputSource {
  var now = Time(microseconds: 0)
  var up: [KeyCode] = []
  private(set) var asked = 0

  /// The orders that the LEDs received.
  private(set) var lights: [LightOrder] = []

  /// Gives the service the inputs that were not read yet; called by `catchUp()`.
  var unread: () -> Void = {}

  /// The time up to which all events have been read; `nil` for `now`.
  var reached: Time?

  func catchUp() -> Time {
    unread()
    return reached ?? now
  }

  func realTime(reaching time: Time) -> Int64 { time.microseconds }
  var devices: [DeviceMessage] { [] }

  func keysUp(among keys: [KeyCode], on device: DeviceID) -> [KeyCode] {
    asked += 1
    return keys.filter(up.contains)
  }

  func light(_ lit: Lights, of used: Lights) { lights.append(LightOrder(lit, of: used)) }
}

/// Which of the LEDs in use were to be on.
struct LightOrder: Equatable {
  let lit: Lights
  let used: Lights

  init(_ lit: Lights, of used: Lights) {
    self.lit = lit
    self.used = used
  }
}
