import KeyboardModes
import Keyboards

/// Feeds a controller inputs that are written as a line of text, in virtual time.
///
/// A line consists of steps; `A` stands for `KEY_A`, and names of buttons, such as `BTN_LEFT`, are
/// whole:
///
/// - `A+` presses the key A, `A-` releases it, `A*` repeats it, `A` presses and releases it at once.
/// - `A-&B+` are in one frame; all other events are in frames of their own.
/// - `20` advances the time by 20 ms, `499_999us` by microseconds.
/// - `pass` lets happen what is due by now, `end` tells that there is no more input.
/// - `sync[A+,B-]` finds after a loss that A is down and B is up; `opened[A]` opens a device while A is
///   down. Both list keys in the order of their codes, as the kernel does. `gone[]` takes a device
///   away; `allOpened[]` tells that all devices are open.
/// - `leds[caps+,num-]` is a report that the LED of Caps Lock is on and that of Num Lock off;
///   `has[caps+,num-]` reports it of a device that is being opened.
/// - `client[tapTextField]` is an event of a program, `reload[]` puts the ``next`` settings in force, and
///   `reload[NAME]` those of the name.
/// - `restart[]` continues with another controller from the snapshot, without any device. It has the
///   ``next`` settings, too, or those of its name.
///
/// `2:A+` presses A on a second device; other steps about devices have such a number too. `1k:A+` and
/// `2k:A+` press it on two nodes of the same keyboard, k.
struct Timeline {
  private(set) var controller: Controller
  /// The settings of the next `reload[]` and `restart[]`.
  var next: Settings
  /// The settings of `reload[NAME]` and `restart[NAME]`.
  var named: [String: Settings] = [:]
  private var now: Int64 = 0
  /// What the controller handled.
  private(set) var inputs: [Controller.Input] = []
  private(set) var changes: [Change] = []

  init(_ settings: Settings = Settings()) {
    controller = Controller(settings: settings)
    next = settings
  }

  mutating func play(_ line: String) throws {
    for step in line.split(separator: " ") { try play(step: step) }
  }

  mutating func handle(_ input: Controller.Input) {
    inputs.append(input)
    changes += controller.handle(input)
  }

  /// Handles a batch as the daemon does, with the releases that a grab hid.
  mutating func handle(_ batch: Batch, keysUp: ([KeyCode], DeviceID) -> [KeyCode]) {
    changes += controller.handle(batch, keysUp: keysUp)
  }

  /// Processes the deadlines that are due by now.
  mutating func passTime() { changes += controller.advance(to: time) }

  /// Tells the controller that there is no more input.
  mutating func end() { changes += controller.end(at: time) }

  mutating func configure(_ settings: Settings) { handle(.configured(settings, at: time)) }

  /// Continues with another controller.
  mutating func restart(_ settings: Settings, changedLast: Time? = nil) {
    let snapshot = controller.snapshot
    controller = Controller(settings: settings)
    changes += controller.resume(snapshot, changedLast: changedLast, at: time)
  }

  var time: Time { Time(microseconds: now) }

  private mutating func play(step: Substring) throws {
    if let microseconds = Self.microseconds(step) {
      now += microseconds
      return
    }
    let parts = step.split(separator: ":")
    let number = parts.count == 2 ? parts[0].prefix { $0.isNumber } : "1"
    let keyboard = parts.count == 2 ? parts[0].drop { $0.isNumber }.utf8.first : nil
    let device = DeviceID(order: (Int(number) ?? 1) - 1, parent: keyboard.map(Int.init))
    let words = parts[parts.count - 1].split(separator: "[", omittingEmptySubsequences: false)
    guard words.count == 2, words[1].hasSuffix("]") else {
      for (place, word) in words[0].split(separator: "&").enumerated() {
        try play(word: word, device, continuesFrame: place > 0)
      }
      return
    }
    let names = words[1].dropLast().split(separator: ",").map(String.init)
    switch words[0] {
    case "sync":
      let found = try differences(names.joined(separator: " "))
        .sorted { $0.key.number < $1.key.number }
      handle(.synchronized(device, found, at: time))
    case "opened":
      let held = try names.map { try key($0) }.sorted { $0.number < $1.number }
      handle(.opened(device, held: held))
    case "leds": handle(.leds(device, try report(names), at: time))
    case "has": handle(.leds(device, try report(names), at: nil))
    case "gone": handle(.gone(device, at: time))
    case "allOpened": handle(.allOpened(at: time))
    case "client":
      guard let event = ClientEvent(name: names[0], in: controller.settings.machines) else {
        throw UnknownWord(word: names[0])
      }
      handle(.client(event, at: time))
    case "reload": configure(try settings(names))
    case "restart": restart(try settings(names), changedLast: changes.last?.time)
    default: throw UnknownWord(word: String(step))
    }
  }

  private func settings(_ names: [String]) throws -> Settings {
    guard let name = names.first else { return next }
    guard let settings = named[name] else { throw UnknownWord(word: name) }
    return settings
  }

  private mutating func play(
    word: Substring, _ device: DeviceID, continuesFrame: Bool
  ) throws {
    if word == "pass" { return passTime() }
    if word == "end" { return end() }
    var name = word
    let actions: [KeyEvent.Action] =
      switch name.last {
      case "+": [.press]
      case "-": [.release]
      case "*": [.autorepeat]
      default: [.press, .release]
      }
    if actions.count == 1 { name.removeLast() }
    for action in actions {
      let event = KeyEvent(
        time: time, key: try key(String(name)), action: action, continuesFrame: continuesFrame)
      handle(.key(device, event))
    }
  }

  /// `20` are milliseconds, `499_999us` microseconds.
  static func microseconds(_ text: Substring) -> Int64? {
    let digits = text.replacing("_", with: "")
    return digits.hasSuffix("us") ? Int64(digits.dropLast(2)) : Int64(digits).map { $0 * 1000 }
  }
}

struct UnknownWord: Error { let word: String }

/// The key `KEY_NAME`, or the button `BTN_NAME`.
func key(_ name: String) throws -> KeyCode {
  let whole = name.hasPrefix("BTN_") ? name : "KEY_\(name)"
  guard let key = KeyCode(name: whole) else { throw UnknownWord(word: name) }
  return key
}

/// Differences found by a sync, from a line of keys: `A+` is down, `A-` is up.
func differences(_ line: String) throws -> [KeyDifference] {
  try line.split(separator: " ").map {
    KeyDifference(key: try key(String($0.dropLast())), isDown: $0.hasSuffix("+"))
  }
}

/// A report of LEDs: `caps+` is on, `caps-` is off.
func report(_ words: [String]) throws -> LEDReport {
  try words.reduce(into: LEDReport()) { report, word in
    guard let lock = Lock.allCases.first(where: { $0.machine.rawValue == word.dropLast() }) else {
      throw UnknownWord(word: word)
    }
    report.update(by: LEDReport(lock.led, on: word.hasSuffix("+") ? lock.led : []))
  }
}

/// The states that a line of keys leads through.
func states(_ line: String, _ settings: Settings = Settings()) throws -> [String] {
  var timeline = Timeline(settings)
  try timeline.play(line)
  return timeline.changes.map(\.to)
}
