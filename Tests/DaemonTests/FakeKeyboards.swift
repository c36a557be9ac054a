import Configuration
import KeyboardModes
import Keyboards
import System
import Terminal
import Wire

@testable import Daemon

/// An input source whose times and key states a test sets.
final class FakeKeyboards: InputSource {
  var now = Time(microseconds: 0)
  var up: [KeyCode] = []
  private(set) var asked = 0
  private(set) var reads = 0
  var canFindKeysUp = true

  /// The orders that the LEDs received.
  private(set) var leds: [LEDCommand] = []

  /// The inputs that were not read yet.
  var unread: [Controller.Input] = []

  /// What the next change of the devices that are followed finds.
  var found: [Controller.Input] = []

  /// The time up to which all events have been read; `nil` for `now`.
  var reached: Time?

  /// The boot time at which the clock has 0, in microseconds.
  var origin: Int64 = 0

  func start(on loop: EventLoop, ready: @escaping () -> Void) {}

  func read(into batch: inout Batch) {
    reads += 1
    let reached = reached ?? now
    batch = Batch(unread, reached: reached, noInputBefore: reached)
    unread = []
  }

  func bootTime(reaching time: Time) -> Int64 { origin + time.microseconds }

  var devices: [DeviceMessage] { [] }

  func keysUp(among keys: [KeyCode], on device: DeviceID) -> [KeyCode] {
    asked += 1
    return keys.filter(up.contains)
  }

  func apply(_ configuration: Configuration) {
    unread += found
    found = []
  }

  func show(_ leds: LEDCommand) { self.leds.append(leds) }
}
