internal import Evdev
internal import KeyboardModes
internal import SystemCalls

/// The LEDs of a device that is followed. Opens the device for writing, which may be refused, only
/// when some of its LEDs are in use.
final class DeviceLights {
  private let device: InputDevice
  private let all: Lights
  private var lightSwitch: LightSwitch?
  private var refusal: SystemError?
  private var isRefused = false

  init(of device: InputDevice) {
    self.device = device
    all = device.lights
  }

  /// Switches each LED in `used` on if it is in `lit`, and off otherwise. After an error, does
  /// nothing until ``tryAgain()``, or until the device's LEDs go out of use.
  ///
  /// - Returns: the error; `nil` if there was none, or the same one as before.
  func show(_ lit: Lights, of used: Lights) -> SystemError? {
    let isUsed = !all.isDisjoint(with: used)
    if !isUsed {
      // An error is forgotten when the LEDs go out of use.
      (isRefused, refusal) = (false, nil)
    }
    guard isUsed || lightSwitch != nil, !isRefused else { return nil }
    do throws(SystemError) {
      if lightSwitch == nil { lightSwitch = try LightSwitch(of: device) }
      try lightSwitch?.show(lit, of: used)
      if !isUsed { lightSwitch = nil }
      refusal = nil
      return nil
    } catch {
      lightSwitch = nil
      // Reading the device reports its removal.
      guard !device.isGone else { return nil }
      isRefused = true
      defer { refusal = error }
      return error == refusal ? nil : error
    }
  }

  /// Makes the next ``show(_:of:)`` try again after an error.
  func tryAgain() { isRefused = false }
}
