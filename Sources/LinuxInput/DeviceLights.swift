internal import Evdev
internal import KeyboardModes
internal import SystemCalls

/// The lights of a device that is followed. The device is opened for them, which may be refused, only
/// when some of those that it has are used.
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

  /// Has, of the lights that are `used`, those on that are in `lit`, and the others off. Where the
  /// device refused it before, nothing is tried.
  ///
  /// - Returns: why it was refused; `nil` where it was not, or said the same before.
  func show(_ lit: Lights, of used: Lights) -> SystemError? {
    let isUsed = !all.isDisjoint(with: used)
    if !isUsed {
      // What it was told before is forgotten with its use.
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
      // Whoever reads the device learns that it is gone, and says so.
      guard !device.isGone else { return nil }
      isRefused = true
      defer { refusal = error }
      return error == refusal ? nil : error
    }
  }

  /// Has the next ``show(_:of:)`` try what was refused before.
  func tryAgain() { isRefused = false }
}
