import Evdev
import KeyboardModes

/// Feeds a controller keys that are written as a line of text, in virtual time.
///
/// A line consists of steps: `A+` presses the key A, `A-` releases it, `A*` repeats it, `A` presses
/// and releases it at once; a number advances the time by that many milliseconds, `499_999us` by
/// microseconds; `2:A+` presses A on a second device. `A` stands for `KEY_A`; names of buttons, such
/// as `BTN_LEFT`, are whole.
struct Timeline {
  private(set) var controller: Controller
  private var now: Int64 = 0
  private(set) var changes: [Change] = []

  init(_ settings: Settings = Settings()) { controller = Controller(settings: settings) }

  mutating func play(_ line: String) throws {
    for step in line.split(separator: " ") { try play(step: step) }
  }

  mutating func take(_ input: Controller.Input) {
    controller.take(input) { changes.append($0) }
  }

  /// Takes a batch as the daemon does, with the releases that a grab hid.
  mutating func take(_ batch: Batch, keysUp: ([KeyCode], DeviceID) -> [KeyCode]) {
    controller.take(batch, keysUp: keysUp) { changes.append($0) }
  }

  /// Processes the deadlines that are due by now.
  mutating func passTime() { controller.advance(to: time) { changes.append($0) } }

  /// Tells the controller that there is no more input.
  mutating func end() { controller.end(at: time) { changes.append($0) } }

  mutating func configure(_ settings: Settings) { take(.configured(settings, at: time)) }

  var time: Time { Time(microseconds: now) }

  private mutating func play(step: Substring) throws {
    let digits = step.replacing("_", with: "")
    if let milliseconds = Int64(digits) {
      now += milliseconds * 1000
    } else if digits.hasSuffix("us"), let microseconds = Int64(digits.dropLast(2)) {
      now += microseconds
    } else {
      try play(key: step)
    }
  }

  private mutating func play(key step: Substring) throws {
    let parts = step.split(separator: ":")
    let device = DeviceID(order: parts.count == 2 ? (Int(parts[0]) ?? 1) - 1 : 0)
    var name = parts[parts.count - 1]
    let actions: [KeyEvent.Action] =
      switch name.last {
      case "+": [.press]
      case "-": [.release]
      case "*": [.autorepeat]
      default: [.press, .release]
      }
    if "+-*".contains(name.last ?? " ") { name.removeLast() }
    for action in actions {
      take(.key(device, KeyEvent(time: time, key: try key(String(name)), action: action)))
    }
  }
}

struct UnknownKey: Error { let name: String }

/// The key `KEY_NAME`, or the button `BTN_NAME`.
func key(_ name: String) throws -> KeyCode {
  let whole = name.hasPrefix("BTN_") ? name : "KEY_\(name)"
  guard let key = KeyCode(name: whole) else { throw UnknownKey(name: name) }
  return key
}

/// Differences found by a sync, from a line of keys: `A+` is down, `A-` is up.
func differences(_ line: String) throws -> [KeyDifference] {
  try line.split(separator: " ").map {
    KeyDifference(key: try key(String($0.dropLast())), isDown: $0.hasSuffix("+"))
  }
}

/// The events that a line of keys sends and that change a state.
func events(_ line: String, _ settings: Settings = Settings()) throws -> [String] {
  var timeline = Timeline(settings)
  try timeline.play(line)
  return timeline.changes.map(\.event)
}

/// The states that a line of keys leads through.
func states(_ line: String, _ settings: Settings = Settings()) throws -> [String] {
  var timeline = Timeline(settings)
  try timeline.play(line)
  return timeline.changes.map(\.to)
}
