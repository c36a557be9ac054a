import KeyboardModes
import System
import Terminal
import Wire

@testable import Daemon

/// A keyboard at which nobody types unless the fuzzer does, on a clock that only it moves.
final class StillKeyboard: InputSource {
  private(set) var now = Time(microseconds: 1_000_000)

  let devices = [
    DeviceMessage(
      name: "a \"keyboard\"", node: "/dev/input/event3", vendor: 1, product: 0xffff,
      isKeyboard: true)
  ]

  /// The inputs that were not read yet.
  var unread: [Controller.Input] = []

  func start(on loop: EventLoop, ready: @escaping () -> Void) {}
  func bootTime(reaching time: Time) -> Int64 { time.microseconds }

  func read(into batch: inout Batch) {
    batch = Batch(unread, reached: now, noInputBefore: now)
    unread = []
  }

  func keysUp(among keys: [KeyCode], on device: DeviceID) -> [KeyCode] { [] }

  /// A press and a release of the key of this number, a tenth of a second after the last.
  func tap(_ number: Int) -> [Controller.Input] {
    now = Time(microseconds: now.microseconds + 100_000)
    guard let key = KeyCode(number) else { return [] }
    return [KeyEvent.Action.press, .release].map {
      .key(DeviceID(order: 0), KeyEvent(time: now, key: key, action: $0))
    }
  }
}
