import KeyboardModes
import Keyboards
import Terminal

/// Writes the section of one device in a recording as `libinput record` does, in version 1 of its
/// format. `libinput replay` creates the same device from the section and plays its events.
struct LibinputWriter {
  /// The time of the last report, if there was one.
  private var lastReport: Time?

  /// The text before the devices.
  ///
  /// - Parameter remarks: comment lines for the user.
  static func header(devices: Int, remarks: [String]) -> String {
    remarks.map { "# \($0)\n" }.joined() + "version: 1\nndevices: \(devices)\ndevices:\n"
  }

  /// The text before the reports of a device: its description.
  ///
  /// - Parameter parent: the number of the physical device; `nil` if the recording has only one
  ///   device.
  static func section(_ device: DeviceDescription, parent: Int? = nil) -> String {
    var lines = ["- node: \(device.node)", "  evdev:", "    name: \(quoted(device.name))"]
    let numbers = [device.bus, device.vendor, device.product, device.version]
    lines.append("    id: \(list(numbers))")
    lines.append("    codes:")
    for type in device.types {
      // Leaves out codes of EV_SYN without a name: the kernel gives each device all codes of
      // EV_SYN.
      let codes = type.codes.filter { type.number > 0 || eventCodeName(0, $0) != nil }
      let name = eventTypeName(type.number).map { " # \($0)" } ?? ""
      lines.append("      \(type.number): \(list(codes))\(name)")
    }
    if !device.axes.isEmpty { lines.append("    absinfo:") }
    for axis in device.axes {
      let numbers = [axis.minimum, axis.maximum, axis.fuzz, axis.flat, axis.resolution]
      lines.append("      \(axis.code): \(list(numbers))")
    }
    lines.append("    properties: \(list(device.properties))")
    lines += ["  udev:", "    properties: []", "  quirks: []", "  events:"]
    let note = parent.map { Self.note(Note.parent, [$0]) } ?? ""
    return lines.joined(separator: "\n") + "\n" + note
  }

  /// The list items for one input of the device, or an empty text.
  mutating func text(of input: Controller.Input) -> String {
    switch input {
    case .key(_, let event): return text(of: [event])
    case .opened(_, let held):
      return held.isEmpty ? "" : Self.note(Note.held, held.map(\.number))
    case .missedRelease(_, let key, let time):
      return Self.note(Note.missed) + report([(InputEvent.key, key.number, 0)], at: time)
    case .synchronized(_, let found, let time):
      let events = found.map { (InputEvent.key, $0.key.number, $0.isDown ? Int32(1) : 0) }
      return Self.note(Note.lost) + report(events, at: time)
    case .gone(_, let time):
      return Self.note(Note.gone, [time.microseconds / 1_000_000, time.microseconds % 1_000_000])
    case .leds(_, let leds, let time?):
      // Uses the order of the locks, as the controller does when it reports their changes.
      let numbers = Lock.allCases.map(\.led).filter(leds.known.contains).flatMap(\.numbers)
      return report(
        numbers.map { (InputEvent.led, $0, leds.on.contains(LEDs(number: $0)) ? 1 : 0) }, at: time)
    case .leds(_, let leds, nil):
      let notes = [(Note.lit, leds.on), (Note.unlit, leds.known.subtracting(leds.on))]
      return notes.map { $1.isEmpty ? "" : Self.note($0, $1.numbers) }.joined()
    case .allOpened, .client, .configured: return ""
    }
  }

  /// The list item of key events with the same time; there must be at least one.
  mutating func text(of keys: [KeyEvent]) -> String {
    report(keys.map { (InputEvent.key, $0.key.number, $0.action.rawValue) }, at: keys[0].time)
  }

  private static func note(_ word: String) -> String { "  - keymoded: \(word)\n" }

  private static func note(_ word: String, _ numbers: [some BinaryInteger]) -> String {
    note("{\(word): \(list(numbers))}")
  }

  /// A report of these events, and the `SYN_REPORT` that ends it.
  private mutating func report(
    _ events: [(type: UInt16, code: UInt16, value: Int32)], at time: Time
  ) -> String {
    let seconds = padded(time.microseconds / 1_000_000, 3)
    let start = "    - [\(seconds), \(padded(time.microseconds % 1_000_000, 6))"
    let lines = events.map { type, code, value in
      let names = "\(eventTypeName(type) ?? "?") / \(padded(eventCodeName(type, code) ?? "?", 20))"
      let numbers = "\(padded(type, 3)), \(padded(code, 3)), \(padded(value, 7))"
      return "\(start), \(numbers)] # \(names) \(value)\n"
    }
    let passed = (time.microseconds - (lastReport ?? time).microseconds) / 1000
    lastReport = time
    return "  - evdev:\n" + lines.joined() + "\(start),   0,   0,       0] "
      + "# ------------ SYN_REPORT (0) ---------- \(passed < 0 ? "" : "+")\(passed)ms\n"
  }

  private static func list(_ numbers: [some BinaryInteger]) -> String {
    "[\(numbers.map { "\($0)" }.joined(separator: ", "))]"
  }

  /// A double-quoted scalar of YAML.
  private static func quoted(_ text: String) -> String {
    let escaped = text.unicodeScalars.map { scalar -> String in
      switch scalar {
      case "\"", "\\": "\\\(scalar)"
      // Escapes characters that YAML forbids or terminals act on, and all characters from U+FFFE
      // on.
      case _ where !scalar.isShown || scalar.value >= 0xfffe:
        "\\U" + padded(scalar.value, 8, radix: 16, "0")
      default: "\(scalar)"
      }
    }
    return "\"\(escaped.joined())\""
  }
}
