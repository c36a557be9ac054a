import Configuration
import Foundation
import Testing

/// A bad configuration and the messages about it.
struct BadConfiguration: CustomTestStringConvertible {
  let name: String
  let bytes: [UInt8]
  let messages: String

  var testDescription: String { name }

  init(_ name: String, _ bytes: [UInt8], _ messages: String) {
    self.name = name
    self.bytes = bytes
    self.messages = messages
  }

  /// A case of ``readable``: its name, the file, `=>` and the messages.
  fileprivate init(_ text: String) {
    let parts = text.components(separatedBy: "\n=>\n")
    let (name, file) = parts[0].firstLine
    let messages = parts.count == 2 ? parts[1] : "the case has no line '=>'"
    self.init(name, Array("\(file)\n".utf8), "\(messages.trimmingCharacters(in: .newlines))\n")
  }

  fileprivate static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Bad.txt")

  /// The cases of `Bad.txt`, and the text before the first of them.
  fileprivate static let (comment, readable): (String, [BadConfiguration]) = {
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    let parts = text.components(separatedBy: "\n=== ")
    return (parts[0], parts.dropFirst().map(BadConfiguration.init))
  }()

  /// Cases with bytes that editors do not show or that are not UTF-8, or without a line end.
  fileprivate static let unreadable: [BadConfiguration] = [
    .init(
      "brace-open-without-line-end", Array("shift: {\n  threshold: 500ms".utf8),
      """
      brace-open-without-line-end.yaml:2:19: did not find expected ',' or '}' while parsing a flow \
      mapping that begins in line 1

      """),
    .init(
      "control-character", Array("shift:\n  trigger: \u{7}\n".utf8),
      "control-character.yaml:2:12: control characters are not allowed\n"),
    .init(
      "not-utf-8", Array("shift:\n  trigger: ".utf8) + [0xff] + Array("\n".utf8),
      "not-utf-8.yaml:2:12: not UTF-8: invalid leading UTF-8 octet\n"),
    .init(
      "returns-alone", Array("shift: {}\rkeyboard: ".utf8) + [0xff] + Array("\r".utf8),
      "returns-alone.yaml:2:11: not UTF-8: invalid leading UTF-8 octet\n"),
    .init(
      "tab", Array("shift:\n\tthreshold: 1s\n".utf8),
      "tab.yaml:2:1: this is a tab; indent with spaces\n"),
    .init(
      "tab-inside", Array("shift:\n  timeout:\t3s\n  \tthreshold: 1s\n".utf8),
      "tab-inside.yaml:3:3: this is a tab; indent with spaces\n"),
    .init(
      "utf-16", [0xff, 0xfe] + Array("s\0h\0".utf8),
      "utf-16.yaml:1:1: this is UTF-16, which PowerShell's '>' writes; "
        + "'iconv -f UTF-16 -t UTF-8' converts it\n"),
    .init(
      "utf-16le", Array("s\0h\0".utf8),
      "utf-16le.yaml:1:1: this is UTF-16, which PowerShell's '>' writes; "
        + "'iconv -f UTF-16LE -t UTF-8' converts it\n"),
    .init(
      "utf-16be", Array("\0s\0h".utf8),
      "utf-16be.yaml:1:1: this is UTF-16, which PowerShell's '>' writes; "
        + "'iconv -f UTF-16BE -t UTF-8' converts it\n"),
    .init(
      "utf-8-mark", Array("\u{feff}shift: 1".utf8),
      "utf-8-mark.yaml:1:8: shift must be a mapping; its possible settings are threshold, timeout, "
        + "trigger, tap_timeout and used_by\n"),
    .init(
      "utf-8-torn", Array("shift:\n  trigger: ".utf8) + [0xc3],
      "utf-8-torn.yaml:2:12: not UTF-8: incomplete UTF-8 octet sequence\n"),
  ]

  /// The messages of the parser; empty if it accepts the configuration.
  fileprivate func said() -> String {
    do {
      _ = try Configuration(parsing: bytes, file: "\(name).yaml")
      return ""
    } catch {
      return error.lines.map { "\($0)\n" }.joined()
    }
  }
}

extension String {
  /// The first line, and all after it.
  fileprivate var firstLine: (line: String, rest: String) {
    let end = firstIndex(of: "\n") ?? endIndex
    return (String(self[..<end]), String(self[end...].dropFirst()))
  }
}

@Suite("Bad configurations")
struct BadConfigurationTests {
  @Test(
    "every error of a bad configuration is reported with its line and column",
    arguments: BadConfiguration.readable + BadConfiguration.unreadable)
  func told(_ bad: BadConfiguration) {
    let said = bad.said()
    #expect(said == bad.messages)
    #expect(said.split(separator: "\n").allSatisfy { $0.hasPrefix("\(bad.name).yaml:") })
  }

  @Test("there are many cases, each with a unique name")
  func many() {
    let names = (BadConfiguration.readable + BadConfiguration.unreadable).map(\.name)
    #expect(names.count >= 45)
    #expect(Set(names).count == names.count)
  }

  @Test(
    "REMAKE_EXPECTATIONS rewrites the messages in Bad.txt",
    .enabled(if: ProcessInfo.processInfo.environment["REMAKE_EXPECTATIONS"] != nil))
  func remake() throws {
    let cases = BadConfiguration.readable.map { bad in
      "\n=== \(bad.name)\n\(String(decoding: bad.bytes, as: UTF8.self))=>\n\(bad.said())"
    }
    try "\(BadConfiguration.comment)\(cases.joined())"
      .write(to: BadConfiguration.file, atomically: true, encoding: .utf8)
    Issue.record("Bad.txt was made anew: look at it")
  }
}
