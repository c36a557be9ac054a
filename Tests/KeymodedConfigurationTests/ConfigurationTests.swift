import Evdev
import Foundation
import KeyboardModes
import KeymodedConfiguration
import Testing

private func read(_ text: String) throws -> Configuration {
  try Configuration(parsing: Array(text.utf8), file: "k.yaml")
}

private func chord(_ names: String...) throws -> Chord {
  try Chord(names.compactMap(KeyCode.init(name:)))
}

@Suite("A configuration")
struct ConfigurationTests {
  @Test(
    "that says nothing leaves everything as it is",
    arguments: [
      "", "# nothing\n", "shift:\n", "keyboard: {}\n", "shift: {}\nkeyboard:\n  bindings:\n",
    ])
  func empty(_ text: String) throws {
    #expect(try read(text) == Configuration())
  }

  @Test("names the devices to follow, or not to follow, by name or by numbers")
  func devices() throws {
    let rules = try read(
      """
      devices:
        only: ["*eyboard*", "046d:c52b"]
        ignore: ["*Yubi*", "AT ?ranslated Set 2 keyboar[c-e]", "1209:0001"]
      """
    ).devices
    func isFollowed(_ name: String, _ vendor: UInt16 = 1, _ product: UInt16 = 1) -> Bool {
      rules.allow(name: name, vendor: vendor, product: product)
    }
    #expect(isFollowed("A keyboard"))
    #expect(isFollowed("Receiver", 0x046d, 0xc52b))
    #expect(!isFollowed("Receiver", 0x046d, 0xc52c))
    #expect(!isFollowed("Yubikey keyboard"))
    #expect(!isFollowed("AT Translated Set 2 keyboard"))
    #expect(!isFollowed("A keyboard", 0x1209, 1))
    let all = try read("devices: {}").devices
    #expect(all.allow(name: "anything", vendor: 0, product: 0))
    let one = try read("devices: { ignore: 'dead:BEEF' }").devices
    #expect(!one.allow(name: "anything", vendor: 0xdead, product: 0xbeef))
    let name = try read("devices: { ignore: 'a:b' }").devices
    #expect(!name.allow(name: "a:b", vendor: 0xa, product: 0xb), "no numbers, so a name")
    #expect(name.allow(name: "x", vendor: 0xa, product: 0xb))
  }

  @Test("sets the rules of Shift")
  func shift() throws {
    let settings = try read("shift: { threshold: 300ms, trigger: tap, tap_timeout: 0.15s }")
      .settings
    #expect(settings.shift.threshold == .milliseconds(300))
    #expect(settings.shiftTrigger == .tap(timeout: .milliseconds(150)))
    #expect(
      try read("shift: { trigger: tap }").settings.shiftTrigger == .tap(timeout: .milliseconds(200))
    )
    #expect(try read("shift: { tap_timeout: 1s }").settings.shiftTrigger == .press)
    #expect(try read("shift: { trigger: press }").settings.shiftTrigger == .press)
  }

  @Test(
    "has times with units, exact to the microsecond",
    arguments: [
      ("500ms", 500_000), ("0.5s", 500_000), ("500000us", 500_000), ("499.999ms", 499_999),
      ("1us", 1), ("60s", 60_000_000), ("0.000001s", 1), ("1.50s", 1_500_000),
    ] as [(String, Int64)])
  func durations(_ text: String, _ microseconds: Int64) throws {
    let settings = try read("shift: { threshold: \(text) }").settings
    #expect(settings.shift.threshold == .microseconds(microseconds))
  }

  @Test("binds chords to events, in place of the default ones of each event it names")
  func bindings() throws {
    let bindings = try read(
      """
      keyboard:
        bindings:
          clickSwitchButton: [KEY_LEFTMETA+KEY_V, KEY_F5, KEY_LEFTCTRL + KEY_DOT]
          tapTextField: KEY_F6
          tapBlankArea: []
      """
    ).settings.bindings
    #expect(bindings[try chord("KEY_RIGHTMETA", "KEY_V")] == .clickSwitchButton)
    #expect(bindings[try chord("KEY_F5")] == .clickSwitchButton)
    #expect(bindings[try chord("KEY_LEFTCTRL", "KEY_DOT")] == .clickSwitchButton)
    #expect(bindings[try chord("KEY_SCROLLLOCK")] == nil)
    #expect(bindings[try chord("KEY_F6")] == .tapTextField)
    #expect(bindings[try chord("KEY_INSERT")] == nil)
    #expect(bindings[try chord("KEY_ESC")] == nil)
    #expect(bindings[try chord("KEY_COMPOSE")] == .clickMoreButton, "not named, so by default")
  }

  @Test("may give a default chord of one event to another, if it names both")
  func moved() throws {
    let text = "keyboard: { bindings: { tapBlankArea: KEY_F1, clickMoreButton: KEY_ESC } }"
    #expect(try read(text).settings.bindings[try chord("KEY_ESC")] == .clickMoreButton)
  }

  @Test("has in keymoded.yaml(5) the defaults, and all of them")
  func manual() throws {
    let checkout = URL(fileURLWithPath: #filePath).appendingPathComponent("../../..").standardized
    let page = try String(
      contentsOf: checkout.appending(path: "man/keymoded.yaml.5"), encoding: .utf8)
    let parts = page.split(separator: ".Bd -literal -offset indent\n")
    let block = try #require(parts.last?.split(separator: ".Ed").first.map(String.init))
    #expect(try read(block) == Configuration())
    // The default of a tap's length shows only where there are taps.
    let tap = block.replacing("trigger: press", with: "trigger: tap")
    #expect(try read(tap) == read("shift: {trigger: tap}"))
    for event in KeyboardRules.Event.allCases { #expect(block.contains("\(event.name): [KEY_")) }
    #expect(block.contains("threshold: 500ms"))
  }

  /// What is wrong, and the whole message.
  static let faults: [(String, String)] = [
    ("shift: {threshold: 500}", "k.yaml:1:20: '500' is not a time such as 500ms, 0.5s or 250us"),
    (
      "shift: {threshold: 0.5us}", "k.yaml:1:20: '0.5us' is not a time such as 500ms, 0.5s or 250us"
    ),
    ("shift: {threshold: -1s}", "k.yaml:1:20: '-1s' is not a time such as 500ms, 0.5s or 250us"),
    ("shift: {threshold: .s}", "k.yaml:1:20: '.s' is not a time such as 500ms, 0.5s or 250us"),
    ("shift: {threshold: 0ms}", "k.yaml:1:20: '0ms' is not between 1us and 60s"),
    ("shift: {threshold: 61s}", "k.yaml:1:20: '61s' is not between 1us and 60s"),
    (
      "shift: {threshold: 99999999999999999999s}",
      "k.yaml:1:20: '99999999999999999999s' is not a time such as 500ms, 0.5s or 250us"
    ),
    (
      "shift: {threshold: [1ms]}",
      "k.yaml:1:20: a list or mapping stands where one value belongs"
    ),
    ("shift: {trigger: hold}", "k.yaml:1:18: 'hold' is neither press nor tap"),
    ("shift: {treshold: 1s}", "k.yaml:1:9: unknown key 'treshold'; did you mean 'threshold'?"),
    ("shift: fast", "k.yaml:1:8: shift is not a mapping"),
    ("shift:\n  threshold: 1s\n  threshold: 2s", "k.yaml:3:3: key 'threshold' stands here twice"),
    ("sihft: {}", "k.yaml:1:1: unknown key 'sihft'; did you mean 'shift'?"),
    ("completely: different", "k.yaml:1:1: unknown key 'completely'"),
    ("- shift", "k.yaml:1:1: the configuration is not a mapping"),
    (
      "keyboard: {bindings: {clickSwitch: KEY_V}}",
      "k.yaml:1:23: unknown key 'clickSwitch'"
    ),
    (
      "keyboard: {bindings: {tapTextfield: KEY_V}}",
      "k.yaml:1:23: unknown key 'tapTextfield'; did you mean 'tapTextField'?"
    ),
    (
      "keyboard: {bindings: {tapTextField: KEY_INSRET}}",
      "k.yaml:1:37: unknown key name 'KEY_INSRET'; did you mean KEY_INSERT?"
    ),
    (
      "keyboard: {bindings: {tapTextField: INSERT}}",
      "k.yaml:1:37: unknown key name 'INSERT'; did you mean KEY_INSERT?"
    ),
    (
      "keyboard: {bindings: {tapTextField: Return to sender}}",
      "k.yaml:1:37: unknown key name 'Return to sender'"
    ),
    ("keyboard: {bindings: {tapTextField: KEY_V+}}", "k.yaml:1:37: a key is missing beside a '+'"),
    ("keyboard: {bindings: {tapTextField: ['']}}", "k.yaml:1:38: a key is missing beside a '+'"),
    (
      "keyboard: {bindings: {tapTextField: [[KEY_V]]}}",
      "k.yaml:1:38: a list or mapping stands where one value belongs"
    ),
    (
      "keyboard: {bindings: {tapTextField: KEY_LEFTCTRL+KEY_LEFTSHIFT}}",
      "k.yaml:1:37: Shift cannot be bound: it belongs to the Shift machine"
    ),
    (
      "keyboard: {bindings: {tapTextField: KEY_RIGHTALT+KEY_V}}",
      "k.yaml:1:37: KEY_RIGHTALT is AltGr, which types characters, and not a modifier"
    ),
    (
      "keyboard: {bindings: {tapTextField: KEY_B+KEY_V}}",
      "k.yaml:1:37: KEY_B stands before the last key but is not a modifier"
    ),
    (
      "keyboard: {bindings: {tapTextField: KEY_LEFTCTRL+KEY_RIGHTCTRL+KEY_V}}",
      "k.yaml:1:37: KEY_RIGHTCTRL is a modifier that stands here already"
    ),
    (
      "keyboard:\n  bindings:\n    tapTextField: KEY_LEFTCTRL+KEY_V\n"
        + "    tapBlankArea: [KEY_F1, KEY_RIGHTCTRL+KEY_V]",
      "k.yaml:4:28: this is bound to tapTextField already"
    ),
    (
      "keyboard: {bindings: {tapTextField: KEY_ESC}}",
      "k.yaml:1:37: this is bound to tapBlankArea already by default; list other keys for that"
    ),
    (
      "keyboard: {bindings: {tapTextField: [KEY_V, KEY_F1, KEY_V]}}",
      "k.yaml:1:53: this stands here already"
    ),
    (
      "keyboard: {bindings: {tapTextField: [KEY_LEFTCTRL+KEY_V, KEY_RIGHTCTRL+KEY_V]}}",
      "k.yaml:1:58: this stands here already"
    ),
    (
      #"keyboard: {bindings: {tapTextField: "KEY_F1\0junk"}}"#,
      "k.yaml:1:37: unknown key name 'KEY_F1\u{0}junk'"
    ),
    ("devices: { onyl: [] }", "k.yaml:1:12: unknown key 'onyl'; did you mean 'only'?"),
    ("devices: [x]", "k.yaml:1:10: devices is not a mapping"),
    ("devices: { ignore: [''] }", "k.yaml:1:21: no device is named"),
    ("devices: { ignore: [x, y, x] }", "k.yaml:1:27: this stands here already"),
    (
      "devices: { ignore: [046d:c52b, 046D:C52B] }",
      "k.yaml:1:32: this stands here already"
    ),
    (
      "devices: { ignore: [[x]] }",
      "k.yaml:1:21: a list or mapping stands where one value belongs"
    ),
    ("shift: &a {}", "k.yaml:1:8: anchors are not supported"),
    ("shift: *a", "k.yaml:1:8: aliases are not supported"),
    ("shift: !x {}", "k.yaml:1:8: tags are not supported"),
    ("shift: {}\n---\nshift: {}", "k.yaml:2:1: a second document"),
    ("shift: {", "k.yaml:2:1: did not find expected node content"),
    ("shift:\n\tthreshold: 1s", "k.yaml:2:1: a tab stands where only spaces may"),
  ]

  @Test("with a fault says where and what", arguments: faults)
  func fault(_ text: String, _ message: String) {
    #expect {
      try read(text)
    } throws: { error in
      #expect("\(error)" == message)
      return true
    }
  }

  @Test("tells all that is wrong, in the order of the file")
  func allFaults() {
    #expect {
      try read("keyboard: 1\nshift:\n  trigger: never\n  threshold: 9\nother: 2\n")
    } throws: { error in
      #expect(
        "\(error)" == """
          k.yaml:1:11: keyboard is not a mapping
          k.yaml:3:12: 'never' is neither press nor tap
          k.yaml:4:14: '9' is not a time such as 500ms, 0.5s or 250us
          k.yaml:5:1: unknown key 'other'
          """)
      return true
    }
  }

  @Test("is not nested without end, and is UTF-8")
  func hostile() {
    #expect(throws: ConfigurationErrors.self) {
      try read(String(repeating: "[", count: 100_000))
    }
    #expect(throws: ConfigurationErrors.self) {
      try Configuration(parsing: [0x73, 0xff, 0xfe], file: "k.yaml")
    }
  }

  @Test("is a file that can be read", arguments: ["/nowhere", "/", "/dev/zero"])
  func files(_ path: String) {
    let reasons = [
      "/nowhere": "No such file or directory", "/": "Is a directory",
      "/dev/zero": "larger than 1 MiB",
    ]
    #expect {
      try Configuration.load(path)
    } throws: { error in
      #expect("\(error)" == "\(path): \(reasons[path] ?? "")")
      return true
    }
  }
}
