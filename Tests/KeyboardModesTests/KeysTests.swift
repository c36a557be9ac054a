import Configuration
import Foundation
import KeyboardModes
import Testing

/// The cases of `Keys.txt`, and of the file that KEYMODED_KEYS names.
@Suite("Controller: keys and what they lead to")
struct KeysTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let name: String
    /// Each line with its number in the file.
    let lines: [(number: Int, text: String)]
    var testDescription: String { name }
  }

  private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Keys.txt")
  private static let further = ProcessInfo.processInfo.environment["KEYMODED_KEYS"]

  static let cases = (try? cases(of: file)) ?? []

  static func cases(of file: URL) throws -> [Case] {
    let lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
      .enumerated().map { (number: $0.offset + 1, text: $0.element) }
    return lines.split { $0.text.isEmpty }.compactMap { lines in
      guard let first = lines.first?.text, first.hasPrefix("=== ") else { return nil }
      return Case(name: String(first.dropFirst(4)), lines: Array(lines.dropFirst()))
    }
  }

  @Test("the steps of each line lead to its changes", arguments: cases)
  func changes(_ example: Case) throws {
    var (settings, next) = (Settings(), Settings())
    var named: [String: Settings] = [:]
    var lines = example.lines[...]
    while let (number, line) = lines.popFirst() {
      let parts = line.components(separatedBy: "=>")
      if line.hasPrefix("#") { continue }
      guard parts.count == 2 else {
        let words = line.split(separator: " ", maxSplits: 1)
        let rest = words.count == 2 ? String(words[1]) : ""
        let file = lines.prefix { $0.text.hasPrefix("  ") }
        lines = lines.dropFirst(file.count)
        if file.isEmpty {
          next = try Settings(text: rest)
        } else {
          let text = file.map { $0.text.dropFirst(2) }.joined(separator: "\n")
          next = try Configuration(parsing: Array(text.utf8), file: "line \(number)").settings
          named[rest] = next
        }
        if words[0] == "with" { settings = next } else { #expect(words[0] == "next") }
        continue
      }
      var timeline = Timeline(settings)
      (timeline.next, timeline.named) = (next, named)
      try timeline.play(parts[0])
      let expected = parts[1].split(separator: " ")
      let names = expected.filter { !$0.hasPrefix("due@") }
      let isAsExpected =
        names.count == timeline.changes.count && zip(names, timeline.changes).allSatisfy(matches)
      #expect(isAsExpected, "line \(number): \(line) leads to \(timeline.changes.map(text))")
      if let due = expected.last, due.hasPrefix("due@") {
        let time = Timeline.microseconds(due.dropFirst(4)).map(Time.init(microseconds:))
        #expect(timeline.controller.deadline == time, "line \(number): \(line)")
      }
    }
  }

  @Test("further cases: the steps of each line lead to its changes", .enabled(if: further != nil))
  func furtherChanges() throws {
    let cases = try Self.cases(of: URL(fileURLWithPath: try #require(Self.further)))
    #expect(!cases.isEmpty)
    for each in cases { try changes(each) }
  }

  private func text(_ change: Change) -> String {
    "\(change.machine):\(change.from)>\(change.event)>\(change.to)@\(change.time.microseconds)us"
  }

  /// Whether the change is one such as `on`, `shiftPressed`, `shiftPressed>on`, `off>shiftPressed>on`,
  /// `on@20` or `shift:on`.
  private func matches(_ expected: Substring, _ change: Change) -> Bool {
    let words = expected.split(separator: ":")
    guard words.count == 1 || words[0] == change.machine.rawValue else { return false }
    let parts = words[words.count - 1].split(separator: "@")
    let names = parts[0].split(separator: ">")
    let isNamed =
      names.count > 1
      ? names == [change.from[...], change.event[...], change.to[...]].suffix(names.count)
      : [change.event[...], change.to[...]].contains(names[0])
    let isTimed = parts.count == 1 || Timeline.microseconds(parts[1]) == change.time.microseconds
    return isNamed && isTimed
  }

  @Test("the file has cases, each with lines, and a change that is not expected is found")
  func complete() throws {
    #expect(Self.cases.count > 60)
    #expect(Self.cases.allSatisfy { $0.lines.contains { $0.text.contains("=>") } })
    let change = Change(
      sequence: 1, time: Time(microseconds: 20_000), machine: .shift, from: "off", to: "on",
      event: "shiftPressed")
    for right in [
      "on", "shiftPressed", "shiftPressed>on", "on@20", "shiftPressed>on@20_000us", "shift:on@20",
      "off>shiftPressed>on",
    ] {
      #expect(matches(right[...], change))
    }
    for wrong in [
      "off", "on@21", "shiftPressed>off", "shiftUsed>on", "on>shiftPressed", "caps:on",
      "on>shiftPressed>on",
    ] {
      #expect(!matches(wrong[...], change))
    }
  }
}
