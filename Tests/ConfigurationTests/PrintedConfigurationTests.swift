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
      "shift: { trigger: tap, tap_timeout: 150ms }", "shift: { used_by: any }", "debounce: 5ms",
      "debounce: 100ms", "debounce: 1us", "devices: { only: [a] }",
      "devices: { ignore: ['*Yubi*', 046D:C52B] }",
      "leds: { capsLock: LED_CAPSL }", "leds: { 'on': [], 'off': [LED_MISC, LED_KANA] }",
      "locks: []", "locks: caps", "locks: [num]", "leds: { capsLock: [LED_NUML, LED_CAPSL] }",
      "keyboard: { bindings: { tapTextField: [] } }",
      "keyboard: { bindings: { tapTextField: [F9, Super+V, KEY_MENU, 1, N, 0X2E8, BTN_LEFT] } }",
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
    #expect(try printed(text).yaml.contains("    replaces: true\n    initial: lost\n"))
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
}
