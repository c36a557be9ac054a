import KeyboardModes
import Keyboards
import TestSupport
import Testing

@testable import Configuration

@Suite("Printed configurations")
struct PrintedConfigurationTests {
  private func read(_ text: String) throws -> Configuration {
    try Configuration(parsing: Array(text.utf8), file: "k.yaml")
  }

  /// The configuration of a text, after a check that what is printed of it is read as the same.
  @discardableResult
  private func printed(_ text: String) throws -> Configuration {
    let configuration = try read(text)
    let again = try read(configuration.yaml)
    #expect(again == configuration, "\(text)\n=>\n\(configuration.yaml)")
    #expect(again.yaml == configuration.yaml)
    return configuration
  }

  private static let sticker = "keyboard:\n\(stickerTable)"

  @Test(
    "each setting is printed, and read again as the same",
    arguments: [
      "shift: { threshold: 1us }", "shift: { threshold: 60s }", "shift: { threshold: 1234.567ms }",
      "shift: { timeout: 3s }", "shift: { timeout: 1us }", "shift: { trigger: tap }",
      "shift: { trigger: tap, tap_timeout: 150ms }", "debounce: 5ms", "debounce: 100ms",
      "debounce: 1us", "devices: { only: [a] }", "devices: { ignore: ['*Yubi*', 046D:C52B] }",
      "leds: { capsLock: LED_CAPSL }", "leds: { 'on': [], 'off': [LED_MISC, LED_KANA] }",
      "keyboard: { bindings: { tapTextField: [] } }",
      "keyboard: { bindings: { tapTextField: [F9, Super+V, KEY_MENU, 1, N, 0x2e8, BTN_LEFT] } }",
      "keyboard: { bindings: { tapBlankArea: F1, clickMoreButton: Esc } }",
      "keyboard: { table: { initial: editingText } }",
      "keyboard: { table: { rows: { prepareToRecord: { tapBlankArea: editingText } } } }",
      sticker, sticker + "\n  bindings: { clickStickerButton: [Ctrl+Alt+Shift+Super+F9] }",
      sticker + "\nleds: { showingStickers: [LED_NUML] }",
      """
      keyboard:
        table: { replaces: true, initial: idle, states: [idle, 'on-air', 'yes'],
                 events: [pushToTalk, tapBlankArea, 'no'],
                 rows: { idle: { pushToTalk: on-air, 'no': 'yes' }, on-air: { tapBlankArea: idle } } }
        bindings: { pushToTalk: [F5] }
      """,
      // All shipped states, in an order that no extension has.
      """
      keyboard:
        table: { replaces: true, initial: showingPanel, states: [showingPanel, prepareToEditText],
                 events: [tapBlankArea, clickMoreButton],
                 rows: { showingPanel: { tapBlankArea: prepareToEditText },
                         prepareToEditText: { clickMoreButton: showingPanel } } }
      """,
    ])
  func settings(_ text: String) throws {
    #expect(try printed(text) != Configuration())
    #expect(try read(text).yaml != Configuration().yaml)
  }

  @Test("the defaults are printed, and read again as the defaults")
  func defaults() throws { #expect(try printed("") == Configuration()) }

  @Test("the shipped table may be unreachable from another initial state, in print too")
  func unreachable() throws {
    let text = """
      keyboard:
        table: { initial: lost, states: [lost, found], events: [find],
                 rows: { lost: { find: found } } }
      """
    #expect(try printed(text).yaml.contains("    replaces: false\n    initial: lost\n"))
  }

  @Test(
    "names of devices are printed in a form that YAML reads as the same text",
    arguments: [
      "a", "a b", " a ", "\"", "\\", "'", "#", "a: b", "a #b", "-", "- a", "[a", "*a", "&a", "!a",
      "|", "%", "@", "`", "{", "?", "~", "null", "Yes", "1", "1.5", "0x1", ":", "::", "Müller 键盘",
      "\n", "\r\n", "\t", "\u{1}", "\u{7f}", "\u{85}", "\u{a0}", "\u{2028}", "\u{200f}", "\u{feff}",
      "\u{fffe}", "\u{e000}", "\u{1f600}", "\u{10ffff}", "\\n", "\\u0041",
      String(repeating: "\u{85}", count: 128), String(repeating: "x", count: 256),
    ])
  func deviceNames(_ name: String) throws {
    var configuration = Configuration()
    configuration.devices.only = [.name(name)]
    configuration.devices.ignore = [.name(name), .product(vendor: 0x1, product: 0xfe)]
    #expect(try read(configuration.yaml) == configuration, "\(configuration.yaml)")
    #expect(configuration.yaml.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 })
  }

  @Test("random configurations are printed, and read again as the same", arguments: 0..<300)
  func random(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let text = Self.text(&random)
    try printed(text)
  }

  /// A valid configuration, with each setting in about half of all cases.
  private static func text(_ random: inout SplitMix64) -> String {
    func time(_ most: Int) -> String { "\(Int.random(in: 1...most, using: &random))us" }
    var lines: [String] = ["shift:"]
    func maybe(_ line: @autoclosure () -> String) {
      if Bool.random(using: &random) { lines.append(line()) }
    }
    maybe("  threshold: \(time(60_000_000))")
    maybe("  timeout: \(time(60_000_000))")
    maybe("  trigger: tap")
    maybe("  tap_timeout: \(time(60_000_000))")
    maybe("debounce: \(time(100_000))")
    maybe("devices: { only: [a, '1', 0000:ffff], ignore: ['b: \(seedText(&random))'] }")
    var states = KeyboardTable.standard.stateNames
    var events = KeyboardTable.standard.eventNames
    lines.append("keyboard:")
    if Bool.random(using: &random) {
      states = (0..<Int.random(in: 1...20, using: &random)).map { "s\($0)" }
      events = (0..<Int.random(in: 1...9, using: &random)).map { "e\($0)" }
      lines.append("  table: { replaces: true, initial: s0, states: \(states), events: \(events),")
      let rows = states.indices.map { index in
        let next = states[min(index + 1, states.count - 1)]
        let others = events.dropFirst().map {
          "\($0): \(states[Int.random(in: 0..<states.count, using: &random)])"
        }
        return "\(states[index]): { \((["e0: \(next)"] + others).joined(separator: ", ")) }"
      }
      lines.append("    rows: { \(rows.joined(separator: ", ")) } }")
    }
    lines.append("  bindings:")
    var keys = (0...KeyCode.max).compactMap { KeyCode($0) }.filter { !$0.isShift }
    keys.shuffle(using: &random)
    for event in events {
      let modifiers = ["", "Super+", "Ctrl+Alt+", "Shift+"]
      let chords = (0..<Int.random(in: 0...4, using: &random)).map { _ in
        let prefix = modifiers[Int.random(in: 0..<4, using: &random)]
        return "'\(prefix)\(keys.popLast()?.shortName ?? "")'"
      }
      lines.append("    \(event): [\(chords.joined(separator: ", "))]")
    }
    lines.append("leds:")
    for state in states { maybe("  \(state): [\(Bool.random(using: &random) ? "LED_MISC" : "")]") }
    return lines.joined(separator: "\n")
  }

  private static func seedText(_ random: inout SplitMix64) -> String {
    let bytes = (0..<5).map { _ in UInt8.random(in: 48...122, using: &random) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
