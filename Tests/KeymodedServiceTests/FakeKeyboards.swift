import Evdev
import KeyboardModes
import KeymodeInterface

@testable import KeymodedService

/// Keyboards of which a test says what the kernel would say.
final class FakeKeyboards: InputSource {
  var now = Time(microseconds: 0)
  var up: [KeyCode] = []
  private(set) var asked = 0

  /// What the lights were told, each time.
  private(set) var lights: [LightOrder] = []

  /// Lets the service take what was not read yet.
  var unread: () -> Void = {}

  /// How far it has read, if not to the end.
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

/// Which lights were to be on, of which.
struct LightOrder: Equatable {
  let lit: Lights
  let used: Lights

  init(_ lit: Lights, of used: Lights) {
    self.lit = lit
    self.used = used
  }
}
