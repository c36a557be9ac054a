import EventRecordings
import Testing

/// Writes recordings exactly as the recording tools do.
struct RegularFormat: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// The lines before the events.
  let header: [String]
  /// The first line of each report.
  let reportStart: [String]
  /// The line of an event: its time in seconds and microseconds, its type, code and value.
  let line: @Sendable (Int, Int, Int, Int, Int) -> String
  /// The characters of the format, for random damage.
  let alphabet: String

  /// A recording of `count` key events, each in a report with its scan code.
  func recording(of count: Int) -> [String] {
    header + (0..<count).flatMap { report($0) }
  }

  func report(_ index: Int) -> [String] {
    let (second, fraction) = (9 + index / 3, index * 333_331 % 1_000_000)
    let (key, value) = ([30, 42, 15, 169][index / 2 % 4], (index + 1) % 2)
    return reportStart + [
      line(second, fraction, 4, 4, key), line(second, fraction, 1, key, value),
      line(second, fraction, 0, 0, 0),
    ]
  }

  private static func padded(
    _ number: Int, _ width: Int, _ filling: String = " ", radix: Int = 10
  ) -> String {
    let text = String(number, radix: radix)
    return String(repeating: filling, count: max(0, width - text.count)) + text
  }

  private static let types = [0: "EV_SYN", 1: "EV_KEY", 4: "EV_MSC"]
  private static let keys = [
    30: "KEY_A", 42: "KEY_LEFTSHIFT", 15: "KEY_TAB", 169: "KEY_PHONE",
  ]

  static let evtest = RegularFormat(
    testDescription: "evtest", header: ["Input driver version is 1.0.1"], reportStart: [],
    line: { second, fraction, type, code, value in
      let time = "Event: time \(1_795_243_350 + second).\(padded(fraction, 6, "0"))"
      let names = type == 1 ? keys[code] ?? "?" : "MSC_SCAN"
      return type == 0
        ? "\(time), -------------- SYN_REPORT ------------"
        : "\(time), type \(type) (\(types[type] ?? "?")), code \(code) (\(names)), value "
          + (type == 4 ? padded(value, 2, "0", radix: 16) : "\(value)")
    }, alphabet: "Event: time 0123456789.,()typecodvaluSYN_REPORTK-#\n\r\t")

  static let getevent = RegularFormat(
    testDescription: "getevent", header: ["add device 1: /dev/input/event2", "  name:     \"x\""],
    reportStart: [],
    line: { second, fraction, type, code, value in
      let time = "[\(padded(second, 8)).\(padded(fraction, 6, "0"))]"
      let numbers = [(type, 4), (code, 4), (value, 8)].map { padded($0, $1, "0", radix: 16) }
      return "\(time) /dev/input/event2: \(numbers.joined(separator: " "))"
    }, alphabet: "[] 0123456789.:abcdef/devinputA-\n\r\t")

  static let labels = RegularFormat(
    testDescription: "getevent -l", header: getevent.header, reportStart: [],
    line: { second, fraction, type, code, value in
      let time = "[\(padded(second, 8)).\(padded(fraction, 6, "0"))]"
      let name = type == 1 ? keys[code] ?? "?" : type == 0 ? "SYN_REPORT" : "MSC_SCAN"
      let label = type == 1 ? ["UP", "DOWN", "REPEAT"][value] : padded(value, 8, "0", radix: 16)
      func column(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: width - text.count)
      }
      return "\(time) /dev/input/event2: \(column(types[type] ?? "", 12)) \(column(name, 20)) "
        + column(label, 20)
    }, alphabet: getevent.alphabet + "EV_KEYSYNDOWNUPREPORT")

  static let libinput = RegularFormat(
    testDescription: "libinput",
    header: [
      "# libinput record", "version: 1", "ndevices: 1", "devices:", "- node: /dev/input/event4",
      "  evdev:", "    name: \"x\"", "  events:", "  # Current time is 12:31:56",
    ],
    reportStart: ["  - evdev:"],
    line: { second, fraction, type, code, value in
      let times = "\(padded(second, 3)), \(padded(fraction, 6))"
      let numbers = "\(padded(type, 3)), \(padded(code, 3)), \(padded(value, 7))"
      let comment = type == 0 ? "------------ SYN_REPORT (0) ---------- +25ms" : "EV_KEY / \(code)"
      return "    - [\(times), \(numbers)] # \(comment)"
    }, alphabet: "- evdv:[] 0123456789,#{}\"'&*|>\n\r\t\u{1}")

  static let all = [evtest, getevent, labels, libinput]
}
