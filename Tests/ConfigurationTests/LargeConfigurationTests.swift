import Foundation
import System
import Terminal
import TestSupport
import Testing

@testable import Configuration

/// The messages about a text, by line; none if it is valid.
private func said(of text: String) -> [String] {
  said(of: Array(text.utf8))
}

private func said(of bytes: [UInt8]) -> [String] {
  do {
    _ = try Configuration(parsing: bytes, file: "k.yaml")
    return []
  } catch {
    return error.lines.map { "\($0)" }
  }
}

/// A text up to the size limit of configurations: `start`, as many parts as fit, and `end`.
private func filled(_ start: String, _ end: String, with part: (Int) -> String) -> String {
  var text = start
  var number = 0
  while true {
    let next = part(number)
    guard text.utf8.count + next.utf8.count + end.utf8.count <= ConfigurationText.sizeLimit else {
      return text + end
    }
    text += next
    number += 1
  }
}

@Suite("Many errors")
struct ManyErrorsTests {
  @Test(
    "the first twenty errors are reported, the others counted",
    arguments: [
      (1, nil), (20, nil), (21, "k.yaml: 1 more error"), (22, "k.yaml: 2 more errors"),
      (133, "k.yaml: 113 more errors"),
    ] as [(Int, String?)])
  func counted(_ count: Int, _ last: String?) {
    let text = (1...count).map { "\($0): x\n" }.joined()
    let told = (1...min(count, 20)).map { line in
      "k.yaml:\(line):1: unknown setting '\(line)'; "
        + "expected shift, keyboard, machines, devices, debounce, leds or locks"
    }
    #expect(said(of: text) == told + (last.map { [$0] } ?? []))
  }

  @Test("errors are reported in the order of the file")
  func sorted() {
    let devices = "devices: { ignore: [\(String(repeating: "'',", count: 30))] }\n"
    let shift = "shift: { x: 1, y: 1 }\n"
    let ofDevices = said(of: devices)
    let ofShift = said(of: shift)
    #expect(ofShift.count == 2)
    #expect(said(of: devices + shift) == ofDevices.dropLast() + ["k.yaml: 12 more errors"])
    let later = ofDevices.prefix(18).map { $0.replacingOccurrences(of: ":1:", with: ":2:") }
    #expect(said(of: shift + devices) == ofShift + later + ["k.yaml: 12 more errors"])
  }

  @Test("a line of 1 MiB, which is not shown, is not searched for each error")
  func longLine() {
    func nanoseconds() -> Int {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
    let line = Substring(String(repeating: "a", count: 1 << 20))
    let before = nanoseconds()
    for _ in 1...20 { #expect(Mark(line: 1, column: 1).excerpt(of: [line]) == nil) }
    // To search it takes some 20 ms each time.
    #expect(nanoseconds() - before < 100_000_000)
  }

  @Test("no message is made for an error that is not reported")
  func lazy() throws {
    var made = 0
    let faults = (1...1000).reversed().map { line in
      Fault(mark: .init(line: line, column: 1)) {
        made += 1
        return "fault"
      }
    }
    let errors = ConfigurationErrors([ConfigurationText(name: "k.yaml", bytes: [])], faults)
    #expect(errors.errors.compactMap(\.mark?.line) == Array(1...20))
    #expect(errors.omittedCount == 980)
    #expect(made == 20)
  }
}

@Suite("Suggestions")
struct SuggestionTests {
  @Test("only a name of at most 64 bytes gets a suggestion", arguments: [63, 64, 65, 66])
  func longest(_ length: Int) {
    let name = String(repeating: "a", count: length)
    #expect(nearest(to: name, among: ["b", "\(name)b"]) == (length <= 64 ? "\(name)b" : nil))
    // The Kelvin sign has three bytes, and its lower-case letter has one.
    let state = String(repeating: "k", count: length - 42)
    let wrong =
      String(repeating: "\u{212a}", count: 21) + String(repeating: "k", count: length - 63)
    #expect(wrong.utf8.count == length)
    let hint = length <= 64 ? "did you mean '\(state)'?" : "expected \(state)"
    let start = "keyboard: {table: {replaces: true, states: [\(state)], initial: "
    #expect(
      said(of: "\(start)\(wrong)}}")
        == ["k.yaml:1:\(start.count + 1): unknown state '\(wrong)'; \(hint)"])
  }

  @Test(
    "the first of the names with the fewest changes is suggested",
    arguments: [
      ("shfit", ["shift", "shaft"], "shift"), ("acb", ["abx", "abc", "acbd"], "abc"),
      ("SHIFT", ["keyboard", "shift"], "shift"), ("ab", ["abcd", "a", "b"], "a"),
      ("abcdef", ["abc", "abcd", "bcdef"], "bcdef"), ("abcdef", ["abc"], nil), ("", ["a"], "a"),
      ("", ["ab"], nil), ("a", [], nil),
    ] as [(String, [String], String?)])
  func first(_ name: String, _ candidates: [String], _ meant: String?) {
    #expect(nearest(to: name, among: candidates) == meant)
  }
}

@Suite("Large configurations")
struct LargeConfigurationTests {
  @Test("a configuration has at most 1 MiB")
  func size() throws {
    let folder = try TemporaryFolder()
    let text = "shift: { trigger: tap }\n#"
    let most = text + String(repeating: "x", count: 1_048_576 - text.utf8.count)
    let file = try folder.write("most.yaml", most)
    #expect(try Configuration.load(file).settings.shiftTrigger == .tap)
    let larger = try folder.write("larger.yaml", "\(most)x")
    #expect {
      try Configuration.load(larger)
    } throws: { error in
      "\(error)" == "\(larger): larger than 1 MiB, the limit for a configuration"
    }
  }

  @Test("an endless file is read only up to the limit")
  func endless() throws {
    let folder = try TemporaryFolder()
    let pipe = "\(folder.path)/pipe"
    #expect(mkfifo(pipe, 0o600) == 0)
    let writer = Process()
    writer.executableURL = URL(fileURLWithPath: "/bin/sh")
    writer.arguments = ["-c", "exec yes '#' > \(pipe) 2> /dev/null"]
    try writer.run()
    for file in [pipe, "/dev/zero"] {
      #expect {
        try Configuration.load(file, mayWait: true)
      } throws: { error in
        "\(error)" == "\(file): larger than 1 MiB, the limit for a configuration"
      }
    }
    // The writer ends because its pipe has no reader any more.
    writer.waitUntilExit()
  }

  @Test("a text of more than 256 bytes is refused", arguments: ["a", "é", "a\u{323}\u{307}"])
  func texts(_ letter: String) {
    let length = letter.utf8.count
    let most =
      String(repeating: letter, count: 256 / length) + String(repeating: "x", count: 256 % length)
    #expect(said(of: "devices: { ignore: [\(most)] }") == [])
    #expect(
      said(of: "devices: { ignore: [\(most)x] }") == [
        "k.yaml:1:21: this text is longer than 256 bytes"
      ])
    #expect(said(of: filled("debounce: ", "", with: { _ in letter })).count == 1)
    #expect(said(of: filled("", ": 1", with: { _ in letter })).count == 1)
  }

  @Test("a %TAG line is refused, and the rest of the file is not read")
  func tagDirectives() throws {
    #expect(said(of: "%TAG !a! b\n--- {}\n") == ["k.yaml:1:1: tags are not supported"])
    #expect(said(of: "%YAML 1.1\n--- {}\n") == [])
    let many = said(of: filled("", "--- {}\n") { "%TAG !\($0)! b\n" })
    #expect(many.count == 1)
    #expect(many.first?.hasSuffix(": tags are not supported") == true)
    // libyaml asks for 16 KiB at a time.
    let line = try #require(many.first?.split(separator: ":").dropFirst().first.flatMap { Int($0) })
    #expect(line < 3000)
  }

  /// Each case took longer than a minute when every name was compared with all known names, or with
  /// all names before it. Without optimisation each now takes about a second.
  @Test(
    "a configuration of the largest size is read in reasonable time", .timeLimit(.minutes(1)),
    arguments: [
      ("keyboard: {bindings: {tapTextField: [", "KEY_BRIGHTNES", "]}}", false),
      ("devices: {ignore: [", "n", "]}", true),
    ])
  func size(_ start: String, _ name: String, _ end: String, _ isGood: Bool) throws {
    let text = filled(start, end) { "\(name)\(String($0, radix: 16))," }
    #expect(text.utf8.count > ConfigurationText.sizeLimit - 32)
    let lines = said(of: text)
    #expect(lines.count == (isGood ? 0 : 21))
    if !isGood {
      let count = text.utf8.count { $0 == UInt8(ascii: ",") }
      #expect(lines.last == "k.yaml: \(count - 20) more errors")
    }
  }

  /// The first two cases took minutes when each row was compared with all before it.
  @Test(
    "a machine of the largest size is read in reasonable time", .timeLimit(.minutes(1)),
    arguments: [
      ("machines: {a: {initial: b, rows: {b: {", "e", ": b", "}}}}", "64 events"),
      ("machines: {a: {initial: s0, rows: {", "s", ": {e: s0}", "}}}", "64 states"),
      ("machines: {", "m", ": {initial: s, rows: {s: {}}}", "}", "8 machines"),
    ])
  func machines(
    _ start: String, _ name: String, _ value: String, _ end: String, _ limit: String
  ) {
    let text = filled(start, end) { "\(name)\(String($0, radix: 16))\(value)," }
    #expect(text.utf8.count > ConfigurationText.sizeLimit - 32)
    #expect(said(of: text).contains { $0.hasSuffix("there are more than \(limit)") })
  }
}
