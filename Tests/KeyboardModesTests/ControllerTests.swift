import Evdev
import KeyboardModes
import TestSupport
import Testing

private let first = DeviceID(order: 0)
private let second = DeviceID(order: 1)

private func at(_ milliseconds: Int64) -> Time { Time(microseconds: milliseconds * 1000) }

@Suite("Controller: Shift")
struct ControllerShiftTests {
  @Test(
    "the time between two presses of Shift decides between capsLock and off",
    arguments: [
      ("LEFTSHIFT 300 LEFTSHIFT", ["on", "capsLock"]),
      ("LEFTSHIFT 700 LEFTSHIFT", ["on", "off"]),
      ("LEFTSHIFT 499_999us LEFTSHIFT", ["on", "capsLock"]),
      ("LEFTSHIFT 500_000us LEFTSHIFT", ["on", "off"]),
      ("LEFTSHIFT 300 LEFTSHIFT 300 LEFTSHIFT", ["on", "capsLock", "off"]),
    ])
  func doublePress(_ line: String, _ expected: [String]) throws {
    #expect(try states(line) == expected)
  }

  @Test("left Shift and then right Shift are a double press")
  func leftAndRight() throws {
    #expect(try states("LEFTSHIFT 300 RIGHTSHIFT") == ["on", "capsLock"])
    #expect(try states("LEFTSHIFT+ 300 2:RIGHTSHIFT+") == ["on", "capsLock"])
  }

  @Test("presses of Shift on two keyboards are a double press, even with crossed timestamps")
  func crossedStamps() throws {
    #expect(try states("300 LEFTSHIFT -300 2:LEFTSHIFT") == ["on", "capsLock"])
    #expect(try states("600 LEFTSHIFT -600 2:LEFTSHIFT") == ["on", "off"])
  }

  @Test("autorepeat of Shift is ignored")
  func autorepeat() throws {
    #expect(try states("LEFTSHIFT+ 250 LEFTSHIFT* 33 LEFTSHIFT* 33 LEFTSHIFT*") == ["on"])
  }

  @Test("a second press of a held Shift counts as a press")
  func pressWhileHeld() throws {
    #expect(try states("LEFTSHIFT+ 300 LEFTSHIFT+") == ["on", "capsLock"])
  }

  @Test("the next character ends `on`, pressed or autorepeated")
  func characters() throws {
    #expect(try states("LEFTSHIFT A B") == ["on", "off"])
    #expect(try states("A+ LEFTSHIFT 250 A*") == ["on", "off"])
    #expect(try states("LEFTSHIFT LEFTSHIFT A B") == ["on", "capsLock"])
  }

  @Test("a change has its sequence, time, machine, states and event")
  func change() throws {
    var timeline = Timeline()
    try timeline.play("7us LEFTSHIFT 1 A")
    #expect(
      timeline.changes == [
        Change(
          sequence: 1, time: Time(microseconds: 7), machine: .shift, from: "off", to: "on",
          event: "shiftPressed"),
        Change(
          sequence: 2, time: Time(microseconds: 1007), machine: .shift, from: "on", to: "off",
          event: "characterTyped"),
      ])
    #expect(
      timeline.controller.modes
        == Modes(
          sequence: 2, shift: "off", shiftSince: Time(microseconds: 1007),
          keyboard: "prepareToEditText", keyboardSince: nil))
  }
}

@Suite("Controller: taps of Shift")
struct ControllerTapTests {
  private let settings = Settings(shiftTrigger: .tap, tapTimeout: .milliseconds(200))

  @Test(
    "a tap is a short press with no other key in between",
    arguments: [
      ("LEFTSHIFT+ 50 LEFTSHIFT-", ["on"]),
      ("LEFTSHIFT+ 199_999us LEFTSHIFT-", ["on"]),
      ("LEFTSHIFT+ 200_000us LEFTSHIFT-", []),
      ("LEFTSHIFT+ 50", []),
      ("LEFTSHIFT+ A LEFTSHIFT-", []),
      ("LEFTSHIFT+ 2:A LEFTSHIFT-", []),
      ("LEFTSHIFT+ 2:A+ LEFTSHIFT- 2:A-", []),
      ("A+ LEFTSHIFT+ 10 A- 10 LEFTSHIFT-", ["on"]),
      ("A+ LEFTSHIFT+ 10 A* 10 LEFTSHIFT-", ["on"]),
      ("LEFTCTRL+ LEFTSHIFT+ C LEFTSHIFT- LEFTCTRL-", []),
      ("LEFTSHIFT+ LEFTCTRL+ C LEFTCTRL- LEFTSHIFT-", []),
      ("LEFTSHIFT+ 250 LEFTSHIFT* 20 LEFTSHIFT-", []),
      ("LEFTSHIFT-", []),
    ])
  func tap(_ line: String, _ expected: [String]) throws {
    #expect(try states(line, settings) == expected)
  }

  @Test("taps carry the time of their press, and the capsLock threshold applies to those times")
  func doubleTap() throws {
    var timeline = Timeline(settings)
    try timeline.play("LEFTSHIFT+ 150 LEFTSHIFT- 349_999us LEFTSHIFT+ 150 LEFTSHIFT-")
    #expect(timeline.changes.map(\.to) == ["on", "capsLock"])
    #expect(timeline.changes.map(\.time.microseconds) == [0, 499_999])
    #expect(
      try states("LEFTSHIFT+ 150 LEFTSHIFT- 350 LEFTSHIFT+ 150 LEFTSHIFT-", settings)
        == ["on", "off"])
  }

  @Test("two overlapping presses of Shift are one tap")
  func bothShifts() throws {
    #expect(
      try states("LEFTSHIFT+ 10 RIGHTSHIFT+ 10 RIGHTSHIFT- 10 LEFTSHIFT-", settings) == ["on"])
    #expect(
      try states("LEFTSHIFT+ 10 2:LEFTSHIFT+ 10 LEFTSHIFT- 10 2:LEFTSHIFT-", settings) == ["on"])
  }

  @Test("releasing a Shift that was held at opening is not a tap")
  func heldAtOpening() throws {
    var timeline = Timeline(settings)
    timeline.take(.opened(first, held: [try key("LEFTSHIFT")]))
    try timeline.play("50 LEFTSHIFT-")
    #expect(timeline.changes.isEmpty)
  }

  @Test("a press of Shift that loses events, or that a sync finds, is not a tap")
  func lostEvents() throws {
    var timeline = Timeline(settings)
    try timeline.play("LEFTSHIFT+ 20")
    timeline.take(.synchronized(first, [], at: timeline.time))
    try timeline.play("20 LEFTSHIFT-")
    timeline.take(.synchronized(first, try differences("LEFTSHIFT+"), at: timeline.time))
    try timeline.play("20 LEFTSHIFT-")
    #expect(timeline.changes.isEmpty)
  }

  @Test("a press of Shift whose device goes away is not a tap")
  func gone() throws {
    var timeline = Timeline(settings)
    try timeline.play("LEFTSHIFT+ 20")
    timeline.take(.gone(first, at: timeline.time))
    try timeline.play("20 LEFTSHIFT-")
    #expect(timeline.changes.isEmpty)
  }
}

@Suite("Controller: characters and modifiers")
struct ControllerCharacterTests {
  /// Whether a line of keys, played while Shift is `on`, types a character.
  private func types(_ line: String) throws -> Bool {
    switch try states("LEFTSHIFT 600 " + line) {
    case ["on"]: return false
    case ["on", "off"]: return true
    case let other:
      Issue.record("unexpected states \(other)")
      return false
    }
  }

  @Test("every character key types a character, and no other key does")
  func characterKeys() throws {
    let ranges: [ClosedRange<Int>] = [
      2...13, 16...27, 30...41, 43...53, 55...55, 57...57, 71...83, 86...86, 89...89, 98...98,
      117...117, 121...121, 124...124, 179...180,
    ]
    for number in 0...Int(KeyCode.max) {
      let key = try #require(KeyCode(number))
      guard !key.isShift, !Bindings.standard.keys.contains(key) else { continue }
      var timeline = Timeline()
      try timeline.play("LEFTSHIFT 600")
      timeline.take(.key(first, KeyEvent(time: timeline.time, key: key, action: .press)))
      let isCharacter = ranges.contains { $0.contains(number) }
      #expect(timeline.changes.map(\.to) == (isCharacter ? ["on", "off"] : ["on"]), "\(number)")
    }
    #expect(KeyCode(0x300) == nil)
    #expect(KeyCode(-1) == nil)
  }

  @Test(
    "a letter with Ctrl, left Alt or Meta held is a command, not a character",
    arguments: ["LEFTCTRL", "RIGHTCTRL", "LEFTALT", "LEFTMETA", "RIGHTMETA"])
  func commands(_ modifier: String) throws {
    #expect(try !types("\(modifier)+ C"))
    #expect(try !types("\(modifier)+ C+ 250 C*"))
    #expect(try !types("2:\(modifier)+ C"), "held on another keyboard")
    #expect(try types("\(modifier)+ \(modifier)- C"))
  }

  @Test("a letter with AltGr or Shift held is a character")
  func altGr() throws {
    #expect(try types("RIGHTALT+ E"))
    #expect(try states("LEFTSHIFT+ A") == ["on", "off"])
  }

  @Test("Ctrl is held while either of two Ctrl keys is down")
  func bothCtrl() throws {
    #expect(try !types("LEFTCTRL+ RIGHTCTRL+ LEFTCTRL- C"))
    #expect(try !types("LEFTCTRL+ 2:LEFTCTRL+ LEFTCTRL- C"))
    #expect(try types("LEFTCTRL+ RIGHTCTRL+ LEFTCTRL- RIGHTCTRL- C"))
  }

  @Test("the release of a key that is not held is ignored")
  func strayRelease() throws {
    #expect(try !types("LEFTCTRL+ 2:LEFTCTRL- C"))
    #expect(try types("LEFTCTRL- C"))
  }

  @Test("one release ends a key that was pressed twice")
  func pressedTwice() throws {
    #expect(try types("LEFTCTRL+ LEFTCTRL+ LEFTCTRL- C"))
  }

  @Test("modifiers that were down when the device was opened are held")
  func heldAtOpening() throws {
    var timeline = Timeline()
    try timeline.play("2:LEFTSHIFT 600")
    timeline.take(.opened(first, held: [try key("LEFTCTRL"), try key("A")]))
    try timeline.play("C 2:C")
    #expect(timeline.changes.map(\.to) == ["on"], "nothing is typed")
    try timeline.play("LEFTCTRL- C")
    #expect(timeline.changes.map(\.to) == ["on", "off"])
  }

  @Test("a device that goes away releases only its own keys")
  func gone() throws {
    var timeline = Timeline()
    try timeline.play("LEFTSHIFT 600 LEFTCTRL+ 2:LEFTALT+")
    timeline.take(.gone(first, at: timeline.time))
    try timeline.play("2:C")
    #expect(timeline.changes.map(\.to) == ["on"], "Alt is still held on the other")
    timeline.take(.gone(second, at: timeline.time))
    try timeline.play("3:C")
    #expect(timeline.changes.map(\.to) == ["on", "off"])
  }
}

@Suite("Controller: bindings")
struct ControllerBindingTests {
  @Test("the default keys drive the keyboard machine")
  func walk() throws {
    #expect(
      try states("SCROLLLOCK SCROLLLOCK COMPOSE INSERT ESC DICTATE EMOJI_PICKER ESC")
        == [
          "prepareToRecord", "editingText", "showingPanel", "editingText", "prepareToEditText",
          "prepareToRecord", "showingPanel", "prepareToEditText",
        ])
  }

  @Test("autorepeat of a bound key is ignored")
  func autorepeat() throws {
    #expect(try states("COMPOSE+ 250 COMPOSE* 33 COMPOSE*") == ["showingPanel"])
  }

  @Test("a chord needs exactly its modifiers")
  func exactModifiers() throws {
    #expect(try states("LEFTCTRL+ ESC") == [])
    #expect(try states("LEFTSHIFT+ INSERT") == ["on", "off"], "Shift was part of a shortcut")
    #expect(try states("RIGHTALT+ INSERT") == ["editingText"], "AltGr is no modifier")
  }

  private func settings(_ names: [String]) throws -> Settings {
    var settings = Settings()
    let chord = try Chord(names.map { try key($0) })
    #expect(settings.bindings.bind(chord, to: .clickSwitchButton) == nil)
    return settings
  }

  @Test("a chord sends its event, and its letter types no character until released")
  func chord() throws {
    let settings = try settings(["LEFTMETA", "V"])
    #expect(try states("RIGHTMETA+ V", settings) == ["prepareToRecord"], "right is as good as left")
    #expect(try states("2:LEFTMETA+ V", settings) == ["prepareToRecord"], "on any keyboard")
    #expect(try states("LEFTSHIFT 600 V", settings) == ["on", "off"], "V alone is a letter")
    #expect(
      try states("LEFTSHIFT 600 LEFTMETA+ V+ LEFTMETA- 250 V* 33 V*", settings)
        == ["on", "prepareToRecord"], "its autorepeat is nothing, even without Meta")
    #expect(
      try states("LEFTSHIFT 600 LEFTMETA+ V+ LEFTMETA- V- V+", settings)
        == ["on", "prepareToRecord", "off"])
    #expect(
      try states("LEFTMETA+ LEFTSHIFT+ V", settings) == [], "Shift is a modifier of chords too")
  }

  @Test("the last key of a chord does not count as one of its modifiers")
  func modifierAsKey() throws {
    let settings = try settings(["LEFTCTRL", "LEFTALT"])
    #expect(try states("LEFTCTRL+ LEFTALT+", settings) == ["prepareToRecord"])
    #expect(try states("LEFTALT+ LEFTCTRL+", settings) == [])
    #expect(
      try states("LEFTCTRL+ LEFTALT+ LEFTALT+", settings) == ["prepareToRecord", "editingText"],
      "nor if it was down already")
  }

  @Test("an invalid chord is refused with its fault")
  func faults() throws {
    #expect(throws: Chord.Fault.empty) { try Chord([]) }
    #expect(throws: Chord.Fault.endsInShift) { try Chord([try key("LEFTSHIFT")]) }
    #expect(throws: Chord.Fault.endsInShift) {
      try Chord([try key("LEFTCTRL"), try key("RIGHTSHIFT")])
    }
    #expect(throws: Chord.Fault.rightAltIsNotAModifier) {
      try Chord([try key("RIGHTALT"), try key("V")])
    }
    #expect(throws: Chord.Fault.notAModifier(index: 1)) {
      try Chord([try key("LEFTCTRL"), try key("B"), try key("V")])
    }
    #expect(throws: Chord.Fault.modifierTwice(index: 1)) {
      try Chord([try key("LEFTCTRL"), try key("RIGHTCTRL"), try key("V")])
    }
  }

  @Test("a chord cannot be bound to two events, whether with left or right modifiers")
  func conflict() throws {
    var bindings = Bindings()
    #expect(bindings.bind(try Chord([key("LEFTCTRL"), key("V")]), to: .tapTextField) == nil)
    let right = try Chord([key("RIGHTCTRL"), key("V")])
    #expect(bindings.bind(right, to: .tapBlankArea) == .tapTextField)
    #expect(bindings[right]?.press == .tapTextField)
    #expect(bindings.bind(right, to: .tapTextField) == .tapTextField)
  }
}

@Suite("Controller: lost events and client events")
struct ControllerInputTests {
  @Test("a Shift that a sync finds down has an unknown press time")
  func unknownTime() throws {
    var timeline = Timeline()
    timeline.take(.synchronized(first, try differences("LEFTSHIFT+"), at: at(1000)))
    try timeline.play("1100 LEFTSHIFT- RIGHTSHIFT")
    #expect(timeline.changes.map(\.to) == ["on", "off"], "100 ms later, yet no double press")
    #expect(timeline.changes.map(\.time) == [at(1000), at(1100)])
  }

  @Test("a second press of Shift found by a sync is not a double press")
  func unknownSecondTime() throws {
    var timeline = Timeline()
    try timeline.play("LEFTSHIFT 100")
    timeline.take(.synchronized(first, try differences("LEFTSHIFT+"), at: timeline.time))
    #expect(timeline.changes.map(\.to) == ["on", "off"])
  }

  @Test("a sync applies releases, then modifiers, then the other keys")
  func order() throws {
    var timeline = Timeline()
    try timeline.play("LEFTSHIFT 600 LEFTALT+")
    timeline.take(.synchronized(first, try differences("C+ LEFTALT- LEFTMETA+"), at: at(700)))
    #expect(timeline.changes.map(\.to) == ["on"], "Meta was held before C")
    timeline.take(.synchronized(first, try differences("C- D+ LEFTMETA-"), at: at(800)))
    #expect(timeline.changes.map(\.to) == ["on", "off"], "Meta was released before D")
  }

  @Test("a bound key that a sync finds down sends its event")
  func boundKey() throws {
    var timeline = Timeline()
    timeline.take(.synchronized(first, try differences("COMPOSE+"), at: at(5)))
    try timeline.play("COMPOSE*")
    #expect(timeline.changes.map(\.to) == ["showingPanel"])
    #expect(timeline.changes.map(\.time) == [at(5)])
  }

  @Test(
    "a client's event acts like the same event from a key",
    arguments: ClientEvent.namesForShift + KeyboardTable.standard.eventNames)
  func client(_ name: String) throws {
    let event = try #require(ClientEvent(name: name))
    var timeline = Timeline()
    timeline.take(.client(.shiftPressed, at: at(1)))
    timeline.take(.client(event, at: at(2)))
    let expected: [String: [String]] = [
      "shiftPressed": ["capsLock"], "characterTyped": ["off"],
      "clickSwitchButton": ["prepareToRecord"], "clickMoreButton": ["showingPanel"],
      "tapTextField": ["editingText"], "tapBlankArea": [],
    ]
    #expect(Array(timeline.changes.map(\.to).dropFirst()) == expected[name])
    #expect(timeline.changes.dropFirst().allSatisfy { $0.event == name && $0.time == at(2) })
  }

  @Test("an unknown name is not a client event")
  func unknownClientEvent() {
    #expect(ClientEvent(name: "vcDidTapped") == nil)
    #expect(ClientEvent(name: "") == nil)
  }

  @Test("changes are numbered from 1 without gaps, whatever the inputs")
  func sequence() throws {
    var generator = SplitMix64(seed: 20_261_121)
    var timeline = Timeline()
    let keys = try ["LEFTSHIFT", "A", "LEFTCTRL", "ESC", "COMPOSE", "INSERT", "V"].map {
      try key($0)
    }
    for step in 0..<20_000 {
      let device = DeviceID(order: Int.random(in: 0..<3, using: &generator))
      let key = try #require(keys.randomElement(using: &generator))
      let time = at(Int64(step) * 90)
      switch Int.random(in: 0..<20, using: &generator) {
      case 0: timeline.take(.gone(device, at: timeline.time))
      case 1: timeline.take(.opened(device, held: [key]))
      case 2:
        let found = KeyDifference(key: key, isDown: Bool.random(using: &generator))
        timeline.take(.synchronized(device, [found], at: time))
      default:
        let action = try #require(KeyEvent.Action(rawValue: .random(in: 0...2, using: &generator)))
        timeline.take(.key(device, KeyEvent(time: time, key: key, action: action)))
      }
    }
    #expect(timeline.changes.map(\.sequence) == Array(1...Int64(timeline.changes.count)))
    // Each change of a machine starts in the state that its previous change led to.
    for machine in Machine.allCases {
      let own = timeline.changes.filter { $0.machine == machine }
      #expect(own.count > 100)
      #expect(zip(own, own.dropFirst()).allSatisfy { $0.to == $1.from })
      #expect(own.allSatisfy { $0.from != $0.to })
    }
  }
}

@Suite("Controller: reload of the configuration")
struct ControllerConfigurationTests {
  @Test("a reload keeps states, sequence and held keys")
  func stays() throws {
    var timeline = Timeline()
    try timeline.play("LEFTSHIFT 1000 INSERT LEFTCTRL+")
    #expect(timeline.changes.map(\.to) == ["on", "editingText"])
    let before = timeline.controller.modes
    timeline.configure(Settings(shift: ShiftRules(threshold: .seconds(2))))
    #expect(timeline.controller.modes == before)
    #expect(timeline.changes.count == 2)
    try timeline.play("A ESC LEFTCTRL- ESC")
    #expect(timeline.changes.map(\.to) == ["on", "editingText", "prepareToEditText"])
    #expect(timeline.changes.last?.sequence == 3)
  }

  @Test(
    "the threshold in force at the second press of Shift decides",
    arguments: [
      (300, 200, "off"), (300, 400, "capsLock"), (600, 500, "off"), (600, 601, "capsLock"),
    ])
  func threshold(_ distance: Int, _ threshold: Int, _ state: String) throws {
    var timeline = Timeline()
    try timeline.play("LEFTSHIFT \(distance)")
    timeline.configure(Settings(shift: ShiftRules(threshold: .milliseconds(threshold))))
    try timeline.play("LEFTSHIFT")
    #expect(timeline.changes.map(\.to) == ["on", state])
  }

  @Test("a press of Shift before a reload does not become a tap after it")
  func tap() throws {
    var settings = Settings()
    settings.shiftTrigger = .tap
    var timeline = Timeline(settings)
    try timeline.play("LEFTSHIFT+ 50")
    timeline.configure(settings)
    try timeline.play("LEFTSHIFT-")
    #expect(timeline.changes == [])
    try timeline.play("LEFTSHIFT+ 50 LEFTSHIFT-")
    #expect(timeline.changes.map(\.to) == ["on"])
  }

  @Test("a reload changes the bindings, but a bound press stays bound until its release")
  func bindings() throws {
    var settings = Settings()
    settings.bindings = Bindings()
    _ = settings.bindings.bind(try Chord([key("F5")]), to: .tapTextField)
    _ = settings.bindings.bind(try Chord([key("A")]), to: .clickMoreButton)
    var timeline = Timeline(settings)
    try timeline.play("LEFTSHIFT A+")
    #expect(timeline.changes.map(\.to) == ["on", "showingPanel"])
    timeline.configure(Settings())
    try timeline.play("A* F5 A-")
    #expect(timeline.changes.count == 2)
    try timeline.play("A")
    #expect(timeline.changes.map(\.to) == ["on", "showingPanel", "off"])
    #expect(timeline.controller.modes.keyboard == "showingPanel")
  }
}

@Suite("Controller: modifiers whose release a grab may hide")
struct ControllerGrabTests {
  /// The held keys, by device, that the controller asks the kernel about before the press.
  private func asked(
    _ timeline: Timeline, _ name: String, on device: DeviceID, rest: [Controller.Input] = []
  ) throws -> [DeviceID: [KeyCode]] {
    let event = KeyEvent(time: timeline.time, key: try key(name), action: .press)
    var asked: [DeviceID: [KeyCode]] = [:]
    let missed = timeline.controller.missedReleases(
      before: .key(device, event), followedBy: rest[...]
    ) { keys, other in
      asked[other] = keys
      return []
    }
    #expect(missed == [])
    return asked
  }

  @Test("the kernel is asked about held keys only before a press that depends on them")
  func deciding() throws {
    var timeline = Timeline()
    try timeline.play("LEFTCTRL+ 2:A+ 3:LEFTMETA+")
    let third = DeviceID(order: 2)
    let (ctrl, meta) = (try key("LEFTCTRL"), try key("LEFTMETA"))
    #expect(try asked(timeline, "C", on: second) == [first: [ctrl], third: [meta]])
    #expect(try asked(timeline, "ESC", on: first) == [first: [ctrl], third: [meta]])
    #expect(try asked(timeline, "LEFTCTRL", on: first) == [:], "it is not bound")
    #expect(try asked(timeline, "LEFTSHIFT", on: second) == [first: [ctrl], third: [meta]])
    try timeline.play("LEFTSHIFT+")
    let shift = try key("LEFTSHIFT")
    #expect(try asked(timeline, "C", on: first) == [first: [ctrl], third: [meta]])
    #expect(try asked(timeline, "ESC", on: first) == [first: [ctrl, shift], third: [meta]])
    try timeline.play("LEFTSHIFT-")
    #expect(try asked(timeline, "F5", on: second) == [:])
    let gone = Controller.Input.gone(first, at: timeline.time)
    #expect(try asked(timeline, "C", on: second, rest: [gone]) == [third: [meta]])
  }

  @Test("the kernel is not asked about a modifier whose release has already been read")
  func knownReleases() throws {
    var timeline = Timeline()
    try timeline.play("LEFTCTRL+ LEFTALT+")
    let (ctrl, alt) = (try key("LEFTCTRL"), try key("LEFTALT"))
    func event(_ key: KeyCode, _ action: KeyEvent.Action) -> KeyEvent {
      KeyEvent(time: timeline.time, key: key, action: action)
    }
    let release = Controller.Input.key(first, event(ctrl, .release))
    let others: [Controller.Input] = [
      .key(first, event(try key("C"), .release)), .key(first, event(alt, .press)),
      .key(second, event(alt, .release)), .synchronized(second, [], at: timeline.time),
    ]
    for device in [first, second] {
      #expect(try asked(timeline, "C", on: device, rest: [release]) == [first: [alt]])
      #expect(try asked(timeline, "C", on: device, rest: others) == [first: [ctrl, alt]])
      let found = Controller.Input.synchronized(first, [], at: timeline.time)
      #expect(try asked(timeline, "C", on: device, rest: [found]) == [:])
    }
  }

  @Test("a modifier that the kernel reports as up is released before the press")
  func releases() throws {
    var timeline = Timeline()
    try timeline.play("LEFTCTRL+ 250")
    let press = KeyEvent(time: timeline.time, key: try key("INSERT"), action: .press)
    let missed = timeline.controller.missedReleases(
      before: .key(second, press), followedBy: []
    ) { keys, _ in keys }
    let control = try key("LEFTCTRL")
    #expect(missed == [.missedRelease(first, control, at: timeline.time)])
  }
}
