import KeyboardModes
public import Keyboards
import Terminal

/// Writes a recording of one or more devices as `libinput record` does, in version 1 of its format.
/// `libinput replay` creates the same devices from it and plays it.
public struct LibinputWriter: RecordingWriter {
  private var comment = EventComment()

  /// A writer of the reports of one device. The recording has a list of reports for each device.
  public init() {}

  /// The text before the devices.
  ///
  /// - Parameter remarks: comment lines for the user.
  public static func header(devices: Int, remarks: [String]) -> String {
    remarks.map { "# \($0)\n" }.joined() + "version: 1\nndevices: \(devices)\ndevices:\n"
  }

  /// The text before the reports of a device: its description.
  public static func section(_ device: DeviceDescription) -> String {
    var lines = ["- node: \(device.node)", "  evdev:", "    name: \(quoted(device.name))"]
    let numbers = [device.bus, device.vendor, device.product, device.version]
    lines.append("    id: \(list(numbers))")
    lines.append("    codes:")
    for type in device.types {
      // The kernel gives each device all codes of EV_SYN, also those without a name.
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
    return lines.joined(separator: "\n") + "\n"
  }

  /// The list items of `report`.
  public mutating func text(of report: Report) -> String {
    switch report.content {
    case .held(let keys): return "  - keymoded: {\(Note.held): \(Self.list(keys.map(\.number)))}\n"
    case .lost: return "  - keymoded: \(Note.lost)\n" + events(report)
    case .missedRelease: return "  - keymoded: \(Note.missed)\n" + events(report)
    case .keys, .leds: return events(report)
    case .ledsAtOpening(let leds):
      return note(Note.lit, leds.on) + note(Note.unlit, leds.known.subtracting(leds.on))
    case .gone:
      let time = report.time.microseconds
      return "  - keymoded: {\(Note.gone): \(Self.list([time / 1_000_000, time % 1_000_000]))}\n"
    }
  }

  private func note(_ word: String, _ leds: LEDs) -> String {
    leds.isEmpty ? "" : "  - keymoded: {\(word): \(Self.list(leds.numbers))}\n"
  }

  private mutating func events(_ report: Report) -> String {
    "  - evdev:\n"
      + report.events.map { event in
        let seconds = padded(event.time.microseconds / 1_000_000, 3)
        let fraction = padded(event.time.microseconds % 1_000_000, 6)
        let (type, code) = (padded(event.type, 3), padded(event.code, 3))
        let value = padded(event.value, 7)
        let text = comment.text(of: event)
        return "    - [\(seconds), \(fraction), \(type), \(code), \(value)] # \(text)\n"
      }.joined()
  }

  private static func list(_ numbers: [some BinaryInteger]) -> String {
    "[\(numbers.map { "\($0)" }.joined(separator: ", "))]"
  }

  /// A double-quoted scalar of YAML.
  private static func quoted(_ text: String) -> String {
    let escaped = text.unicodeScalars.map { scalar -> String in
      switch scalar {
      case "\"", "\\": "\\\(scalar)"
      // Characters that YAML does not allow unescaped, or that a terminal would act on.
      case _ where !scalar.isShown || scalar.value >= 0xfffe:
        "\\U" + padded(scalar.value, 8, radix: 16, "0")
      default: "\(scalar)"
      }
    }
    return "\"\(escaped.joined())\""
  }
}
