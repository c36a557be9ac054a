import Configuration
import Foundation
import KeyboardModes
import Keyboards
import TestSupport
import Testing

private func read(_ text: String) throws -> Configuration {
  try Configuration(parsing: Array(text.utf8), file: "k.yaml")
}

private func chord(_ names: String...) throws -> Chord {
  try Chord(names.compactMap(KeyCode.init(name:)))
}

@Suite("Configuration")
struct ConfigurationTests {
  @Test(
    "an empty configuration has the defaults",
    arguments: [
      "", "# nothing\n", "shift:\n", "keyboard: {}\n", "shift: {}\nkeyboard:\n  bindings:\n",
    ])
  func empty(_ text: String) throws {
    #expect(try read(text) == Configuration())
  }

  @Test("devices are followed or ignored by name or by vendor and product")
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
    let name = try read("devices: { ignore: ['Logi: K120', 'a:', '*:*'] }").devices
    #expect(!name.allow(name: "Logi: K120", vendor: 0, product: 0), "no numbers, so a name")
    #expect(!name.allow(name: "a:", vendor: 0xa, product: 0))
    #expect(!name.allow(name: "0:0", vendor: 1, product: 1))
    #expect(name.allow(name: "logi K120", vendor: 0xa, product: 0xb))
  }

  @Test(
    "pointers are followed unless the configuration says no",
    arguments: [
      ("", true), ("devices: {}", true), ("devices: { pointers: yes }", true),
      ("devices: { pointers: true }", true), ("devices: { pointers: no }", false),
      ("devices: { pointers: false, ignore: x }", false),
    ])
  func pointers(_ text: String, _ areFollowed: Bool) throws {
    #expect(try read(text).settings.pointers == areFollowed)
  }

  @Test("a table adds states, events and rows to the shipped one, and its events can be bound")
  func addsToTable() throws {
    let settings = try read(
      """
      keyboard:
        bindings: { clickStickerButton: [KEY_F5], tapBlankArea: [] }
      \(stickerTable)
      """
    ).settings
    let table = settings.keyboard
    let shipped = CompiledTable.shipped
    #expect(table.stateNames == shipped.stateNames + ["showingStickers"])
    #expect(table.eventNames == shipped.eventNames + ["clickStickerButton"])
    #expect(table.name(of: table.initial) == "prepareToEditText")
    #expect(
      Set(table.rows).subtracting(shipped.rows) == [
        .init("editingText", "clickStickerButton", "showingStickers"),
        .init("showingStickers", "clickStickerButton", "editingText"),
        .init("showingStickers", "tapBlankArea", "prepareToEditText"),
      ])
    #expect(Set(shipped.rows).isSubset(of: table.rows))
    #expect(
      settings.bindings[try chord("KEY_F5")]?.press.map(table.name(ofEvent:))
        == "clickStickerButton")
    #expect(settings.bindings[try chord("KEY_ESC")] == nil)
    #expect(settings.bindings[try chord("KEY_INSERT")]?.press == .tapTextField)
  }

  @Test("the shipped table can have another initial state")
  func beginsElsewhere() throws {
    let table = try read("keyboard: { table: { initial: editingText } }").settings.keyboard
    #expect(table.name(of: table.initial) == "editingText")
    #expect(table.rows == CompiledTable.shipped.rows)
    #expect(try read("keyboard: { table: {} }") == Configuration())
  }

  @Test("a table that replaces the shipped one drops the bindings of events it lacks")
  func replacesTable() throws {
    let settings = try read(
      """
      keyboard:
        table:
          replaces: true
          initial: idle
          states: [idle, talking]
          events: [pushToTalk, tapBlankArea]
          rows:
            idle: { pushToTalk: talking }
            talking: { tapBlankArea: idle }
        bindings: { pushToTalk: [KEY_F5] }
      """
    ).settings
    let table = settings.keyboard
    #expect(table.stateNames == ["idle", "talking"])
    #expect(table.eventNames == ["pushToTalk", "tapBlankArea"])
    #expect(
      table.rows == [
        .init("idle", "pushToTalk", "talking"), .init("talking", "tapBlankArea", "idle"),
      ])
    let names = ["KEY_F5", "KEY_ESC"]
    #expect(Set(settings.bindings.chords.map(\.key)) == Set(names.compactMap(KeyCode.init(name:))))
  }

  @Test("LEDs show states of both machines, and of the user's table")
  func leds() throws {
    let configuration = try read(
      """
      leds:
        off:
        on: []
        capsLock: LED_CAPSL
        prepareToRecord: [LED_SCROLLL, LED_MISC]
        showingStickers: LED_CAPSL
      keyboard:
        table:
          states: [showingStickers]
          events: [clickStickerButton]
          rows: { editingText: { clickStickerButton: showingStickers } }
      """
    )
    // By their numbers in linux/input-event-codes.h.
    let capsLock = LEDs(number: 1)
    #expect(
      configuration.leds
        == LEDRules([
          "off": [], "on": [], "capsLock": capsLock, "showingStickers": capsLock,
          "prepareToRecord": [LEDs(number: 2), LEDs(number: 8)],
        ]))
    for text in ["leds:", "leds: {}"] { #expect(try read(text) == Configuration()) }
  }

  @Test(
    "both locks are followed unless the configuration says which, or shows a state by their LED",
    arguments: [
      ("", [.caps, .num], []), ("locks: [num, caps]", [.caps, .num], []), ("locks: []", [], []),
      ("locks:", [], []), ("locks: num", [.num], []), ("locks: [caps]", [.caps], []),
      ("leds: { capsLock: LED_SCROLLL }", [.caps, .num], []),
      ("leds: { capsLock: LED_CAPSL }", [.num], ["1:7: caps"]),
      ("leds: { capsLock: LED_CAPSL }\nlocks: [num]", [.num], []),
      ("leds: { capsLock: LED_CAPSL }\nlocks: [num, caps]", [.num], ["2:8: caps"]),
      ("locks: caps\nleds: { 'on': [LED_CAPSL] }", [], ["1:8: caps"]),
      ("leds: { 'on': [LED_NUML, LED_CAPSL] }", [], ["1:7: caps", "1:7: num"]),
      ("leds: { 'on': [LED_NUML, LED_CAPSL] }\nlocks: []", [], []),
    ] as [(String, Set<Lock>, [String])])
  func locks(_ text: String, _ locks: Set<Lock>, _ warned: [String]) throws {
    var warnings: [String] = []
    let configuration = try Configuration(parsing: Array(text.utf8), file: "k.yaml") {
      warnings.append("\($0)")
    }
    #expect(configuration.settings.locks == locks)
    #expect(
      warnings
        == warned.map { place in
          let parts = place.split(separator: " ")
          return "k.yaml:\(parts[0]) warning: the LED of '\(parts[1])' shows a state, "
            + "so this lock is unknown"
        })
  }

  @Test("every LED has the kernel's name")
  func ledNames() throws {
    #expect(LEDs.allNames.count == 11)
    for (number, name) in LEDs.allNames.enumerated() {
      #expect(LEDs(name: name) == LEDs(number: UInt16(number)))
      #expect(eventCodeName(0x11, UInt16(number)) == name)
    }
    for name in ["", "LED_MAX", "LED_CNT", "KEY_A", "CAPSL", "led_capsl"] {
      #expect(LEDs(name: name) == nil, "\(name)")
    }
  }

  @Test("shift sets the threshold, the trigger, the tap timeout and what uses it up")
  func shift() throws {
    let settings = try read("shift: { threshold: 300ms, trigger: tap, tap_timeout: 0.15s }")
      .settings
    #expect(settings.shift.threshold == .milliseconds(300))
    #expect(settings.shiftTrigger == .tap && settings.tapTimeout == .milliseconds(150))
    #expect(
      try read("shift: { trigger: tap }").settings.shiftTrigger == .tap
    )
    #expect(try read("shift: { tap_timeout: 1s }").settings.shiftTrigger == .press)
    #expect(try read("shift: { trigger: press }").settings.shiftTrigger == .press)
    #expect(try read("shift: { used_by: any }").settings == Settings(shiftUsedBy: .any))
    #expect(try read("shift: { used_by: characters }").settings == Settings())
  }

  @Test("the timeout of Shift and debounce can be set, and are off by default")
  func habits() throws {
    let settings = try read("shift: { timeout: 3s }\ndebounce: 5ms").settings
    #expect(settings.shift.timeout == .seconds(3))
    #expect(settings.shift.threshold == .milliseconds(500))
    #expect(settings.debounce == .milliseconds(5))
    #expect(try read("debounce: 100ms").settings.debounce == .milliseconds(100))
    for word in ["off", "0", ""] {
      let none = try read("shift: { timeout: \(word) }\ndebounce: \(word)")
      #expect(none == Configuration(), "\(word)")
    }
  }

  @Test(
    "durations have units and are exact to the microsecond",
    arguments: [
      ("500ms", 500_000), ("0.5s", 500_000), ("500000us", 500_000), ("499.999ms", 499_999),
      ("1us", 1), ("60s", 60_000_000), ("0.000001s", 1), ("1.50s", 1_500_000),
    ] as [(String, Int64)])
  func durations(_ text: String, _ microseconds: Int64) throws {
    let settings = try read("shift: { threshold: \(text) }").settings
    #expect(settings.shift.threshold == .microseconds(microseconds))
  }

  @Test("bindings replace the default chords of each event that they name")
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
    #expect(bindings[try chord("KEY_RIGHTMETA", "KEY_V")]?.press == .clickSwitchButton)
    #expect(bindings[try chord("KEY_F5")]?.press == .clickSwitchButton)
    #expect(bindings[try chord("KEY_LEFTCTRL", "KEY_DOT")]?.press == .clickSwitchButton)
    #expect(bindings[try chord("KEY_SCROLLLOCK")] == nil)
    #expect(bindings[try chord("KEY_F6")]?.press == .tapTextField)
    #expect(bindings[try chord("KEY_INSERT")] == nil)
    #expect(bindings[try chord("KEY_ESC")] == nil)
    #expect(
      bindings[try chord("KEY_COMPOSE")]?.press == .clickMoreButton, "not named, so by default")
  }

  @Test("the recipe for capitals has a Shift that is tapped, and that any key uses up within 3 s")
  func capitals() throws {
    let expected = Settings(
      shift: ShiftRules(timeout: .seconds(3)), shiftTrigger: .tap, shiftUsedBy: .any)
    #expect(try Configuration.load("\(checkout)/data/recipes/capitals.yaml").settings == expected)
  }

  @Test("the recipe for push-to-talk leaves the keyboard and Shift alone, whatever is held")
  func pushToTalk() throws {
    let settings = try Configuration.load("\(checkout)/data/recipes/push-to-talk.yaml").settings
    let (talkKey, device) = (try #require(KeyCode(name: "KEY_RIGHTCTRL")), DeviceID(order: 0))
    for held in [nil, "KEY_LEFTSHIFT", "KEY_LEFTCTRL", "KEY_RIGHTALT", "KEY_HOME"] {
      var controller = Controller(settings: settings)
      var time = Time(microseconds: 0)
      func handle(_ key: KeyCode, _ action: KeyEvent.Action) -> [String] {
        time = Time(microseconds: time.microseconds + 1)
        return controller.handle(.key(device, KeyEvent(time: time, key: key, action: action)))
          .map { "\($0.machine) \($0.to)" }
      }
      if let held { _ = handle(try #require(KeyCode(name: held)), .press) }
      let before = controller.states
      #expect(handle(talkKey, .press) == ["talk talking"])
      #expect(handle(talkKey, .autorepeat) == [])
      #expect(handle(talkKey, .release) == ["talk trailing"], "a brush latches nothing")
      for machine in MachineName.shipped { #expect(controller.states[machine] == before[machine]) }
    }
  }

  @Test("one chord has a use for each of several events, in any case and spacing")
  func uses() throws {
    let settings = try read(
      """
      keyboard:
        table:
          events: [startTalking, stopTalking, sing]
          rows:
            prepareToEditText: { startTalking: prepareToRecord, sing: showingPanel }
            prepareToRecord: { stopTalking: editingText }
        bindings:
          startTalking: [F9]
          stopTalking: [F9  release, Super+F9 Release]
          sing: [f9 hold 300ms, F10 hold 0.25s, KEY_F10 TAP]
          tapTextField: [F11 press]
      """
    ).settings
    let (bindings, table) = (settings.bindings, settings.keyboard)
    func uses(_ keys: String...) throws -> [String] {
      let chord = try Chord(keys.map { try #require(KeyCode(name: $0)) })
      return (bindings[chord]?.withTriggers ?? []).map { "\(table.name(ofEvent: $0)): \($1)" }
    }
    #expect(
      try uses("KEY_F9") == [
        "startTalking: press", "sing: hold(0.3 seconds)", "stopTalking: release",
      ])
    #expect(try uses("KEY_LEFTMETA", "KEY_F9") == ["stopTalking: release"])
    #expect(try uses("KEY_F10") == ["sing: tap", "sing: hold(0.25 seconds)"])
    #expect(try uses("KEY_F11") == ["tapTextField: press"])
  }

  @Test("an event without a value keeps its default chords")
  func nothingBound() throws {
    let bindings = try read("keyboard: { bindings: { tapTextField: , tapBlankArea: [] } }")
      .settings.bindings
    #expect(bindings[try chord("KEY_INSERT")]?.press == .tapTextField)
    #expect(bindings[try chord("KEY_ESC")] == nil)
  }

  @Test("a default chord can move to another event if both events are named")
  func moved() throws {
    let text = "keyboard: { bindings: { tapBlankArea: KEY_F1, clickMoreButton: KEY_ESC } }"
    #expect(try read(text).settings.bindings[try chord("KEY_ESC")]?.press == .clickMoreButton)
  }

  @Test("keymoded.yaml(5) has valid examples, the first with all defaults")
  func manual() throws {
    let page = try String(contentsOfFile: "\(checkout)/data/man/keymoded.yaml.5", encoding: .utf8)
    let parts = page.split(separator: ".Bd -literal -offset indent\n")
    let blocks = parts.dropFirst().compactMap { $0.split(separator: ".Ed").first.map(String.init) }
    for block in blocks { _ = try read(block) }
    let block = try #require(blocks.first)
    #expect(try read(block) == Configuration())
    // The default of tap_timeout takes effect only with the trigger tap.
    let tap = block.replacing("trigger: press", with: "trigger: tap")
    #expect(try read(tap) == read("shift: {trigger: tap}"))
    for event in CompiledTable.shipped.eventNames { #expect(block.contains("\(event): [")) }
    #expect(block.contains("threshold: 500ms"))
  }

  @Test(
    "a file that cannot be read is refused",
    arguments: ["/nowhere", "/", "/dev/zero"])
  func files(_ path: String) {
    let other = "not a regular file; write the configuration into a file and name that one"
    let reasons = ["/nowhere": "No such file or directory", "/": other, "/dev/zero": other]
    #expect {
      try Configuration.load(path)
    } throws: { error in
      #expect("\(error)" == "\(path): \(reasons[path] ?? "")")
      return true
    }
  }
}
