import Configuration
import KeyboardModes
import System
import Terminal
import Wire

/// Where inputs come from: keyboards, or a recording.
protocol InputSource: AnyObject {
  /// The time on the clock that stamps the inputs.
  var now: Time { get }

  /// Begins to follow the devices, or to play.
  ///
  /// - Parameter ready: called from the loop when there is something to ``read(into:)``.
  func start(on loop: EventLoop, ready: @escaping () -> Void) throws(SystemError)

  /// Replaces the contents of `batch` by the inputs since the last call, and the time reached.
  func read(into batch: inout Batch)

  /// The first boot time, in microseconds, at which ``Batch/noInputBefore`` will have reached
  /// `time`, if nothing happens before.
  func bootTime(reaching time: Time) -> Int64

  /// The devices whose keys are followed.
  var devices: [DeviceMessage] { get }

  /// How many devices that should be followed cannot be opened; `nil` while a recording is played.
  var unopenedCount: Int? { get }

  /// The modifiers and pointer buttons that have been held for a minute.
  var longHolds: [LongHold] { get }

  /// Whether ``keysUp(among:on:)`` can ever return keys. If not, the daemon never wakes up to call
  /// it.
  var canFindKeysUp: Bool { get }

  /// Which of `keys` are up on this device, though no later input will report their release.
  func keysUp(among keys: [KeyCode], on device: DeviceID) -> [KeyCode]

  /// Follows the devices that this configuration selects from now on.
  func apply(_ configuration: Configuration) throws(SystemError)

  /// Sets these LEDs on all keyboards, including keyboards that are followed later.
  func show(_ leds: LEDCommand)
}

/// The defaults for a recording, which has no devices.
extension InputSource {
  var unopenedCount: Int? { nil }
  var longHolds: [LongHold] { [] }
  var canFindKeysUp: Bool { false }
  func keysUp(among keys: [KeyCode], on device: DeviceID) -> [KeyCode] { [] }
  func apply(_ configuration: Configuration) throws(SystemError) {}
  func show(_ leds: LEDCommand) {}
}
