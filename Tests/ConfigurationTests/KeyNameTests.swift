import Configuration
import Foundation
import KeyboardModes
import Keyboards
import Testing

@testable import Configuration
@testable import Keyboards

@Suite("Key names")
struct KeyNameTests {
  private static let allKeys = (0...KeyCode.max).compactMap { KeyCode($0) }

  private func kernelName(_ text: String) -> String? {
    KeyCode(writtenAs: text).flatMap { eventCodeName(1, $0.number) }
  }

  @Test("the short name of every key is read as this key, in any case, and is unique")
  func everyKey() {
    #expect(Self.allKeys.count == 0x300)
    for key in Self.allKeys {
      let name = key.shortName
      for text in [name, name.lowercased(), name.uppercased().replacing("0X", with: "0x")] {
        #expect(KeyCode(writtenAs: text) == key, "\(text)")
      }
    }
    #expect(Set(Self.allKeys.map { $0.shortName.lowercased() }).count == Self.allKeys.count)
  }

  @Test("the kernel's name of every key is read as this key, in any case")
  func kernelNames() {
    for key in Self.allKeys {
      guard let name = eventCodeName(1, key.number) else { continue }
      #expect(KeyCode(writtenAs: name) == key, "\(name)")
      #expect(KeyCode(writtenAs: name.lowercased()) == key, "\(name)")
    }
  }

  /// The keys and buttons of the header that is installed, by name. `KEY_CNT` is the number of all.
  private func header() throws -> [String: Int] {
    let text = try String(contentsOfFile: "/usr/include/linux/input-event-codes.h", encoding: .utf8)
    var codes: [String: Int] = [:]
    for match in text.matches(of: /(?m)^#define[ \t]+((?:KEY|BTN)_\w+)[ \t]+(\w+)/)
    where match.1 != "KEY_CNT" {
      let value = String(match.2)
      codes[String(match.1)] =
        codes[value] ?? (value.hasPrefix("0x") ? Int(value.dropFirst(2), radix: 16) : Int(value))
    }
    return codes
  }

  @Test("every name of a key or button in the kernel's header is read, and none is of another key")
  func allOfTheHeader() throws {
    let codes = try header()
    #expect(codes.count > 600)
    for (name, code) in codes {
      #expect(KeyCode(name: name)?.number == UInt16(code), "\(name)")
      #expect(KeyCode(writtenAs: name)?.number == UInt16(code), "\(name)")
      guard name.hasPrefix("KEY_"), !["KEY_MENU", "KEY_PRINT"].contains(name) else { continue }
      let short = name.dropFirst(4)
      for text in [String(short), short.replacing("_", with: "").lowercased()] {
        #expect(KeyCode(writtenAs: text)?.number == UInt16(code), "\(text)")
      }
    }
    for (name, code) in KeyCode.namesMissingInLibevdev where codes[name] != nil {
      #expect(codes[name] == code, "\(name)")
    }
    #expect(KeyCode(writtenAs: "HANGUEL") == KeyCode(name: "KEY_HANGEUL"))
  }

  @Test("a kernel's name without KEY_ is a short name of the same key, except Menu and Print")
  func withoutPrefix() {
    var others: [String] = []
    for name in KeyCode.allNames where name.hasPrefix("KEY_") {
      let short = String(name.dropFirst(4))
      if KeyCode(writtenAs: short) != KeyCode(name: name) { others.append(short) }
      #expect(
        KeyCode(writtenAs: short) == KeyCode(writtenAs: short.replacing("_", with: "")), "\(name)")
    }
    #expect(others.sorted() == ["MENU", "PRINT"])
  }

  @Test("every name that errors suggest is a name of a key")
  func suggested() {
    #expect(KeyCode.allShortNames.count > 500)
    for name in KeyCode.allShortNames { #expect(KeyCode(writtenAs: name) != nil, "\(name)") }
  }

  @Test(
    "people's names are read",
    arguments: [
      ("F9", "KEY_F9"), ("f9", "KEY_F9"), ("1", "KEY_1"), ("0", "KEY_0"), ("v", "KEY_V"),
      ("Scroll_Lock", "KEY_SCROLLLOCK"), ("ScrollLock", "KEY_SCROLLLOCK"),
      ("scroll_lock", "KEY_SCROLLLOCK"), ("Escape", "KEY_ESC"), ("Esc", "KEY_ESC"),
      ("Return", "KEY_ENTER"), ("Enter", "KEY_ENTER"), ("PageUp", "KEY_PAGEUP"),
      ("Page_Up", "KEY_PAGEUP"), ("PgDn", "KEY_PAGEDOWN"), ("PrintScreen", "KEY_SYSRQ"),
      ("Print_Screen", "KEY_SYSRQ"), ("Print", "KEY_SYSRQ"), ("Caps_Lock", "KEY_CAPSLOCK"),
      ("Num_Lock", "KEY_NUMLOCK"), ("Menu", "KEY_COMPOSE"), ("Compose", "KEY_COMPOSE"),
      ("Del", "KEY_DELETE"), ("Ins", "KEY_INSERT"), ("Period", "KEY_DOT"), ("Dot", "KEY_DOT"),
      ("Super", "KEY_LEFTMETA"), ("Meta", "KEY_LEFTMETA"), ("WIN", "KEY_LEFTMETA"),
      ("Control", "KEY_LEFTCTRL"), ("Right_Ctrl", "KEY_RIGHTCTRL"), ("AltGr", "KEY_RIGHTALT"),
      ("KP_Enter", "KEY_KPENTER"), ("KPENTER", "KEY_KPENTER"), ("102nd", "KEY_102ND"),
      ("Emoji_Picker", "KEY_EMOJI_PICKER"), ("EmojiPicker", "KEY_EMOJI_PICKER"),
      ("KEY_MENU", "KEY_MENU"), ("key_print", "KEY_PRINT"), ("btn_left", "BTN_LEFT"),
    ])
  func read(_ text: String, _ name: String) {
    #expect(KeyCode(writtenAs: text) == KeyCode(name: name), "\(kernelName(text) ?? "unknown")")
  }

  @Test(
    "other texts name no key",
    arguments: [
      "", ".", "ö", "_", "KEY_", "KEY_KEY_A", "10", "01", "0x6e", "0x300", "0x", "0x+2e8",
      "0x02e8", "\u{212a}", "KEY_\u{212a}", "F\0009", "KEY_F1\0", "F9 ", "KEY_SCROLL_LOCK",
      "EV_KEY", "LED_CAPSL",
    ])
  func unknown(_ text: String) {
    #expect(KeyCode(writtenAs: text) == nil)
  }

  @Test(
    "chords have short names, which are read as the same chords",
    arguments: [
      ("KEY_F9", "F9"), ("KEY_RIGHTMETA+KEY_V", "Super+V"),
      ("shift+control+dot", "Ctrl+Shift+Period"), ("KEY_COMPOSE", "Menu"),
      ("KEY_MENU", "KEY_MENU"), ("Alt+Win+Shift+Ctrl+1", "Super+Ctrl+Alt+Shift+1"),
      ("Super", "Left_Super"), ("0x2e8", "0x2e8"), ("Ctrl+BTN_LEFT", "Ctrl+BTN_LEFT"),
    ])
  func chords(_ text: String, _ name: String) throws {
    func chord(_ text: String) throws -> Chord {
      try Chord(ChordText(text).names.map { try #require(KeyCode(writtenAs: $0)) })
    }
    #expect(try chord(text).shortName == name)
    #expect(try chord(name) == chord(text))
  }

  @Test(
    "a chord ends at the first space that is not beside a plus",
    arguments: [
      ("F9", ["F9"], ""), (" F9 ", ["F9"], ""), ("F9 release", ["F9"], "release"),
      ("Ctrl + V  hold 300ms ", ["Ctrl", "V"], "hold 300ms"), ("Ctrl+ V", ["Ctrl", "V"], ""),
      ("", [""], ""), ("+", ["", ""], ""), ("Ctrl+", ["Ctrl", ""], ""), ("+V", ["", "V"], ""),
      ("Ctrl + ", ["Ctrl", ""], ""), ("a b+c", ["a"], "b+c"), ("ö ä", ["ö"], "ä"),
    ] as [(String, [String], String)])
  func split(_ text: String, _ names: [String], _ rest: String) {
    let chord = ChordText(text)
    #expect(chord.names == names)
    #expect(chord.rest == rest)
  }
}

@Suite("Short names in configurations")
struct ShortNameConfigurationTests {
  private func read(_ bindings: String) throws -> (Bindings, warnings: [String]) {
    var warnings: [String] = []
    let text = "keyboard: { bindings: { \(bindings) } }"
    let configuration = try Configuration(parsing: Array(text.utf8), file: "k.yaml") {
      warnings.append("\($0)")
    }
    return (configuration.settings.bindings, warnings)
  }

  @Test(
    "short names, kernel names and mixtures bind the same chord",
    arguments: [
      "Super+V", "super+v", "Meta+V", "Win+KEY_V", "Cmd+V", "KEY_RIGHTMETA+V",
      "KEY_LEFTMETA + KEY_V",
      "key_leftmeta+key_v",
    ])
  func same(_ chord: String) throws {
    #expect(try read("tapTextField: \(chord)") == read("tapTextField: KEY_LEFTMETA+KEY_V"))
  }

  @Test(
    "values that YAML takes for numbers, booleans or nothing are names of keys",
    arguments: [
      ("1", "KEY_1"), ("[0]", "KEY_0"), ("y", "KEY_Y"), ("[n]", "KEY_N"), ("Ctrl+1", nil),
      ("end", "KEY_END"), ("e", "KEY_E"),
    ] as [(String, String?)])
  func plainValues(_ text: String, _ name: String?) throws {
    #expect(
      try read("tapTextField: \(text)").0
        == read("tapTextField: \(name ?? "KEY_LEFTCTRL+KEY_1")").0)
  }

  @Test(
    "a chord whose press and release send one event is bound with a warning",
    arguments: [
      ("clickSwitchButton: [F9, F9 release]", 49), ("clickSwitchButton: [F9 release, F9]", 45),
      ("clickSwitchButton: [F9, F9 tap, Super+F8 release, Super+F8 hold 1s]", nil),
      ("clickSwitchButton: [F9 tap, F9 release]", nil),
      ("clickSwitchButton: F9, clickMoreButton: F9 release", nil),
    ] as [(String, Int?)])
  func pressAndRelease(_ bindings: String, _ column: Int?) throws {
    let warnings = column.map {
      "k.yaml:1:\($0): warning: the press sends clickSwitchButton, too: if another key changes the "
        + "state meanwhile, the release may begin what it should end; use two events"
    }
    #expect(try read(bindings).warnings == (warnings.map { [$0] } ?? []))
  }

  @Test(
    "the release of a chord is bound with a warning if nothing else of it is",
    arguments: [
      ("tapTextField: [F9, F8 release]", ["44: F8"]),
      ("tapTextField: Super+F9 release", ["39: Super+F9"]),
      ("tapTextField: F9, tapBlankArea: [F9 release, Ctrl+F9 release]", ["70: Ctrl+F9"]),
      ("tapTextField: F9 hold 1s, tapBlankArea: F9 release", []),
    ])
  func releaseAlone(_ bindings: String, _ told: [String]) throws {
    #expect(
      try read(bindings).warnings
        == told.map { place in
          let parts = place.split(separator: ": ")
          return "k.yaml:1:\(parts[0]): warning: nothing is bound to the press of \(parts[1])"
        })
  }

  @Test("a file with errors has no warnings")
  func warningsOfErrors() {
    var warnings: [String] = []
    #expect(throws: ConfigurationErrors.self) {
      try Configuration(
        parsing: Array("keyboard: { bindings: { tapTextField: F9 release } }\nx: 1".utf8),
        file: "k.yaml"
      ) { warnings.append("\($0)") }
    }
    #expect(warnings == [])
  }

  /// The names of xkb and the codes of the kernel, from the files that libxkbcommon reads.
  private func xkbNames() throws -> [(name: String, key: KeyCode)] {
    let folder = "/usr/share/X11/xkb"
    let codes = try String(contentsOfFile: "\(folder)/keycodes/evdev", encoding: .utf8)
    var keys: [Substring: KeyCode] = [:]
    for match in codes.matches(of: /(?m)^\s*<([^>]+)>\s*=\s*(\d+);/) {
      keys[match.1] = Int(match.2).flatMap { KeyCode($0 - 8) }
    }
    let symbols = try String(contentsOfFile: "\(folder)/symbols/inet", encoding: .utf8)
    let sections = symbols.components(separatedBy: "xkb_symbols ")
    let evdev = sections.first { $0.hasPrefix("\"evdev\"") } ?? ""
    return evdev.matches(of: /key <([^>]+)>\s*{\s*\[\s*(XF86\w+)/).compactMap { match in
      keys[match.1].map { (String(match.2), $0) }
    }
  }

  @Test(
    "an xkb name that differs from the kernel's is suggested with the kernel's key",
    .enabled(if: FileManager.default.fileExists(atPath: "/usr/share/X11/xkb/symbols/inet")))
  func xkb() throws {
    let all = try xkbNames()
    #expect(all.count > 80)
    for name in Set(all.map(\.name)) {
      // Two of xkb's names differ in case alone.
      let keys = all.filter { $0.name.lowercased() == name.lowercased() }.map(\.key)
      let message = unknownKey(name)
      guard let start = message.firstRange(of: "did you mean ") else {
        Issue.record("\(name): \(message) \(keys.map(\.shortName))")
        continue
      }
      let meant = String(message[start.upperBound...].dropLast())
      #expect(keys.map(\.shortName).contains(meant), "\(name)")
    }
  }
}
