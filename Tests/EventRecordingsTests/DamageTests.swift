import EventRecordings
import Foundation
import KeyboardModes
import TestSupport
import Testing

/// A way to damage a line.
private struct Damage: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// Whether a reader can notice the damage wherever it removes an event.
  let isSeen: Bool
  let damage: @Sendable (String) -> String

  init(_ name: String, isSeen: Bool = true, _ damage: @escaping @Sendable (String) -> String) {
    testDescription = name
    self.isSeen = isSeen
    self.damage = damage
  }

  static func replacing(_ old: String, _ new: String) -> Damage {
    Damage("'\(new)' for '\(old)'") { $0.replacing(old, with: new) }
  }

  static func inserting(_ text: String, isSeen: Bool = true) -> Damage {
    Damage("'\(text)' before the first word", isSeen: isSeen) { line in
      let indentation = line.prefix { $0 == " " }
      return indentation + text + line.dropFirst(indentation.count)
    }
  }

  static func ending(_ text: String) -> Damage { Damage("'\(text)' at the end") { $0 + text } }

  static let all: [Damage] = [
    inserting("x"), inserting("\""), inserting("'"), inserting("["), inserting("{"), inserting("}"),
    inserting("]"), inserting("&a "), inserting("*a "), inserting("!a "), inserting("% "),
    inserting("@"), inserting("`"), inserting("| "), inserting("> "), inserting("? "),
    inserting(": "), inserting("- "), inserting("\t"), inserting(" "), inserting("   "),
    inserting("\u{1}"), inserting("\u{0}"), inserting("# ", isSeen: false), inserting("- - "),
    inserting("a: "), inserting("a: b: "), inserting("--- "), inserting("\u{2028}"),
    replacing("[", "("), replacing("]", ")"), replacing("[", ""), replacing("]", ""),
    replacing(",", ""), replacing(",", " \""), replacing(": ", ":"), replacing(":", ""),
    replacing(":", ";"), replacing("- ", ""), replacing("- ", "-"), replacing("- ", "= "),
    replacing("v", "x"), replacing("e", "\u{1}"), ending("\""), ending("'"), ending(" |"),
    ending(" >"), ending(" {"), ending(" ["), ending(": :"), ending("\r"),
    Damage("without its first half", isSeen: false) { String($0.dropFirst($0.count / 2)) },
    Damage("without its second half") { String($0.dropLast($0.count / 2)) },
    Damage("without its first character") { String($0.dropFirst()) },
    Damage("without its indentation") { String($0.drop { $0 == " " }) },
    Damage("with tabs for spaces") { $0.replacing("  ", with: "\t") },
    Damage("without letters", isSeen: false) { _ in "" },
    Damage("nothing but brackets") { _ in "]}]}" }, Damage("three dashes") { _ in "---" },
    Damage("three points") { _ in "..." }, Damage("one quote") { _ in "\"" },
    Damage("long") { $0 + String(repeating: "x", count: 5000) },
  ]
}

@Suite("Damaged recordings of libinput")
struct DamageTests {
  /// A recording of one or more devices, with one or two lines of each kind.
  private static func recording(ofDevices count: Int) throws -> [String] {
    let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Recordings/typing.libinput.yaml")
    let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map(String.init)
    let first = try #require(lines.firstIndex { $0.hasPrefix("- node:") })
    let events = try #require(lines.firstIndex { $0 == "  events:" })
    let header = lines[..<first].map { $0.replacing("ndevices: 1", with: "ndevices: \(count)") }
    let description = lines[first...events].filter { !$0.contains("    #") }
    let some = lines[(events + 1)...].prefix(10)
    return (0..<count).reduce(Array(header)) { text, number in
      text + description
        + some + ["  - hid:", "      time: [  9,     20]", "      hidraw0: [  0,   2,   0]"]
    }
  }

  private func read(_ lines: [String], isLenient: Bool = true) throws -> Outcome {
    try Outcome(
      Array((lines.joined(separator: "\n") + "\n").utf8), format: .libinput, isLenient: isLenient)
  }

  @Test(
    "a lenient reading returns every event except that of the damaged line", arguments: Damage.all)
  private func everyLine(_ damage: Damage) throws {
    for count in [1, 2] {
      let lines = try Self.recording(ofDevices: count)
      let whole = try read(lines, isLenient: false)
      try #require(whole.error == nil && whole.events.count == 2 * count)
      for index in lines.indices {
        let damaged = damage.damage(lines[index])
        guard damaged != lines[index] else { continue }
        var text = lines
        text[index] = damaged
        let outcome = try read(text)
        let what = "line \(index + 1): \(damaged.prefix(80))"
        if outcome.error != nil {
          // An unknown version of the format is refused.
          #expect(lines[index].hasPrefix("version:"), "\(what): \(outcome.error ?? "")")
          continue
        }
        var (missing, added) = (whole.events, 0)
        for event in outcome.events {
          if let known = missing.firstIndex(of: event) {
            missing.remove(at: known)
          } else {
            added += 1
          }
        }
        let isEvent = lines[index].contains("EV_KEY")
        #expect(added <= (isEvent ? 1 : 0), "\(what): \(added) are added")
        #expect(
          missing.count <= (isEvent ? 1 : 0),
          "\(what): \(missing.count) of \(whole.events.count) are missing")
        let isReported = outcome.skipped.count > 0 || !damage.isSeen
        #expect(missing.isEmpty || isReported, "\(what): nothing is reported")
      }
    }
  }

  @Test("a lenient reading goes on behind each fault and counts it")
  func manyFaults() throws {
    let lines = try Self.recording(ofDevices: 1)
    let whole = try read(lines)
    let text = lines.map { $0.contains("SYN_REPORT") ? $0.replacing("]", with: "") : $0 }
    let outcome = try read(text)
    #expect(outcome.error == nil)
    #expect(outcome.events == whole.events)
    #expect(outcome.skipped.count == lines.count { $0.contains("SYN_REPORT") })
  }

  @Test("a lenient reading says how many lines at the end it could not read")
  func rest() throws {
    let head = ["version: 1", "devices:", "- events:", "  - evdev: [[1, 0, 1, 30, 1]]"]
    let one = try read(head + ["  } x"])
    #expect(one.error == nil)
    #expect(one.skipped.first?.message.contains("not read") == false)
    let more = try read(head + ["  } x", "  foo", "# a comment", "", "  bar"])
    #expect(more.skipped.count == 1)
    #expect(more.skipped.first?.line == 5)
    #expect(more.skipped.first?.message.hasSuffix("; the last 2 lines are not read") == true)
  }

  @Test(
    "YAML that is not a recording is refused",
    arguments: [
      "a: mapping\n", "- a\n- list\n", "version: 1\n", "a: [\nb: c\n", "\"text\n", "a: b: c\n",
      "- [1, 2, 3, 4, 5]\n- }\n- [1, 2, 3, 4, 5]\n", "system:\n  }\n", "key: \u{1}\n", "%\n", "",
    ])
  func noRecording(_ text: String) throws {
    for isLenient in [true, false] {
      let outcome = try Outcome(Array(text.utf8), format: .libinput, isLenient: isLenient)
      #expect(outcome.error?.contains("not a recording") == true, "\(outcome.error ?? "no error")")
      #expect(outcome.events == [])
    }
  }

  @Test("the events before invalid bytes are returned, also by a strict reading")
  func noText() throws {
    var bytes = Array("version: 1\ndevices:\n- events:\n  - evdev: [[1, 0, 1, 30, 1]]\n".utf8)
    bytes += [0x20, 0x20, 0x2d, 0x20, 0xff, 0x0a] + Array("  - evdev: [[2, 0, 1, 30, 0]]\n".utf8)
    let strict = try Outcome(bytes, format: .libinput)
    #expect(strict.error?.hasPrefix("FILE:5: ") == true)
    #expect(try strict.events == [event(1_000_000, 30, .press)])
    let lenient = try Outcome(bytes, format: .libinput, isLenient: true)
    #expect(try lenient.events == [event(1_000_000, 30, .press), event(2_000_000, 30, .release)])
    #expect(lenient.skipped.count == 1)
    #expect(try Outcome(bytes, format: .libinput, isLenient: true, throughPipe: true) == lenient)
  }

  @Test(
    "events that valid YAML hides are a fault, also of a strict reading",
    arguments: [
      ("- evdev:\n  - (1, 0, 1, 30, 1]\n", 8), ("- evdex:\n  - [1, 0, 1, 30, 1]\n", 8),
      ("- evdev:\n", 7), ("- evdev\n", 7), ("- keymoded: lost\n", 7),
      ("- [1, 0, 1, 30, 1]\n", 7), ("- more:\n  - evdev:\n    - [1, 0, 1, 30, 1]\n", 8),
    ])
  func silent(_ entry: String, _ line: Int) throws {
    let text =
      "version: 1\nndevices: 1\ndevices:\n- node: x\n  evdev: {name: x}\n  events:\n"
      + entry.split(separator: "\n").map { "  \($0)\n" }.joined()
    let outcome = try EventRecordingsTests.read(text)
    #expect(outcome.error?.hasPrefix("FILE:\(line): ") == true, "\(outcome.error ?? "no error")")
    let lenient = try EventRecordingsTests.read(text, isLenient: true)
    #expect(lenient.error == nil)
    #expect(lenient.skipped.count == 1)
  }

  @Test(
    "events under a damaged key are a fault and are read",
    arguments: ["\ndevices:", "events:", "- node:"])
  func keys(_ key: String) throws {
    let text = """
      ndevices: 1
      devices:
      - node: x
        quirks:
        events:
        - evdev:
          - [1, 0, 1, 30, 1]
          - [1, 0, 0, 0, 0]

      """
    for other in ["#", "x", "- x:"] {
      let damaged = text.replacing(key, with: "\n\(other)\(key.drop { $0 == "\n" }.dropFirst())")
      let strict = try EventRecordingsTests.read(damaged, format: .libinput)
      #expect(strict.error != nil || strict.events.count == 1, "\(damaged)")
      let lenient = try EventRecordingsTests.read(damaged, format: .libinput, isLenient: true)
      #expect(try lenient.events == [event(1_000_000, 30, .press)], "\(damaged)")
    }
  }
}
