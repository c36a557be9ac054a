import Evdev
import KeyboardModes
import SystemCalls

/// The LEDs of a device that is followed. Opens the device for writing, which may be refused, only
/// when some of its LEDs are in use.
final class DeviceLEDs {
  private let device: InputDevice
  private let all: LEDs
  private var ledSwitch: LEDSwitch?
  private var refusal: SystemError?
  private var isRefused = false

  init(of device: InputDevice) {
    self.device = device
    all = device.leds
  }

  /// Switches the LEDs by `order`, and returns the error; `nil` if there was none, or the same one as
  /// before. After an error, does nothing until ``tryAgain()``, or until the device's LEDs go out of
  /// use.
  func show(_ order: LEDOrder) -> SystemError? {
    let isUsed = !all.isDisjoint(with: order.used)
    if !isUsed {
      // An error is forgotten when the LEDs go out of use.
      (isRefused, refusal) = (false, nil)
    }
    guard isUsed || ledSwitch != nil, !isRefused else { return nil }
    do throws(SystemError) {
      if ledSwitch == nil { ledSwitch = try LEDSwitch(of: device) }
      try ledSwitch?.show(order)
      if !isUsed { ledSwitch = nil }
      refusal = nil
      return nil
    } catch {
      ledSwitch = nil
      // Reading the device reports its removal.
      guard !device.isGone else { return nil }
      isRefused = true
      defer { refusal = error }
      return error == refusal ? nil : error
    }
  }

  /// Makes the next ``show(_:)`` try again after an error.
  func tryAgain() { isRefused = false }
}
