import Evdev
import KeyboardModes
import TestSupport
import Testing

private let first = DeviceID(order: 0)
private let second = DeviceID(order: 1)

private func at(_ milliseconds: Int64) -> Time { Time(microseconds: milliseconds * 1000) }

@Suite("The controller: Shift")
struct ControllerShiftTests {
  @Test(
    "takes two presses as capsLock or off by the time between them",
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

  @Test("has one Shift: left and then right is a double press")
  func leftAndRight() throws {
    #expect(try states("LEFTSHIFT 300 RIGHTSHIFT") == ["on", "capsLock"])
    #expect(try states("LEFTSHIFT+ 300 2:RIGHTSHIFT+") == ["on", "capsLock"])
  }

  @Test("has one Shift on all keyboards, also where their stamps crossed")
  func crossedStamps() throws {
    #expect(try states("300 LEFTSHIFT -300 2:LEFTSHIFT") == ["on", "capsLock"])
    #expect(try states("600 LEFTSHIFT -600 2:LEFTSHIFT") == ["on", "off"])
  }

  @Test("takes autorepeat of Shift as nothing")
  func autorepeat() throws {
    #expect(try states("LEFTSHIFT+ 250 LEFTSHIFT* 33 LEFTSHIFT* 33 LEFTSHIFT*") == ["on"])
  }

  @Test("takes a press of a Shift that is held already as a press")
  func pressWhileHeld() throws {
    #expect(try states("LEFTSHIFT+ 300 LEFTSHIFT+") == ["on", "capsLock"])
  }

  @Test("uses `on` up with the next character, by press or by autorepeat")
  func characters() throws {
    #expect(try states("LEFTSHIFT A B") == ["on", "off"])
    #expect(try states("A+ LEFTSHIFT 250 A*") == ["on", "off"])
    #expect(try states("LEFTSHIFT LEFTSHIFT A B") == ["on", "capsLock"])
  }

  @Test("tells the whole change")
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

@Suite("The controller: a tap of Shift")
struct ControllerTapTests {
  private let settings = Settings(shiftTrigger: .tap(timeout: .milliseconds(200)))

  @Test(
    "is a short press with no other key in between",
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

  @Test("counts from press to press for capsLock, and is timed at the press")
  func doubleTap() throws {
    var timeline = Timeline(settings)
    try timeline.play("LEFTSHIFT+ 150 LEFTSHIFT- 349_999us LEFTSHIFT+ 150 LEFTSHIFT-")
    #expect(timeline.changes.map(\.to) == ["on", "capsLock"])
    #expect(timeline.changes.map(\.time.microseconds) == [0, 499_999])
    #expect(
      try states("LEFTSHIFT+ 150 LEFTSHIFT- 350 LEFTSHIFT+ 150 LEFTSHIFT-", settings)
        == ["on", "off"])
  }

  @Test("of the second Shift while the first is held counts once")
  func bothShifts() throws {
    #expect(
      try states("LEFTSHIFT+ 10 RIGHTSHIFT+ 10 RIGHTSHIFT- 10 LEFTSHIFT-", settings) == ["on"])
    #expect(
      try states("LEFTSHIFT+ 10 2:LEFTSHIFT+ 10 LEFTSHIFT- 10 2:LEFTSHIFT-", settings) == ["on"])
  }

  @Test("is not what was held when the device was opened")
  func heldAtOpening() throws {
    var timeline = Timeline(settings)
    timeline.take(.opened(first, held: [try key("LEFTSHIFT")]))
    try timeline.play("50 LEFTSHIFT-")
    #expect(timeline.changes.isEmpty)
  }

  @Test("is not what events were lost in")
  func lostEvents() throws {
    var timeline = Timeline(settings)
    try timeline.play("LEFTSHIFT+ 20")
    timeline.take(.synchronized(first, [], at: timeline.time))
    try timeline.play("20 LEFTSHIFT-")
    timeline.take(.synchronized(first, try differences("LEFTSHIFT+"), at: timeline.time))
    try timeline.play("20 LEFTSHIFT-")
    #expect(timeline.changes.isEmpty)
  }

  @Test("ends with its device")
  func gone() throws {
    var timeline = Timeline(settings)
    try timeline.play("LEFTSHIFT+ 20")
    timeline.take(.gone(first))
    try timeline.play("20 LEFTSHIFT-")
    #expect(timeline.changes.isEmpty)
  }
}

@Suite("The controller: characters and modifiers")
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

  @Test("takes every character key as a character, and no other key")
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
    "takes a letter with Ctrl, left Alt or Meta held as a command, not a character",
    arguments: ["LEFTCTRL", "RIGHTCTRL", "LEFTALT", "LEFTMETA", "RIGHTMETA"])
  func commands(_ modifier: String) throws {
    #expect(try !types("\(modifier)+ C"))
    #expect(try !types("\(modifier)+ C+ 250 C*"))
    #expect(try !types("2:\(modifier)+ C"), "held on another keyboard")
    #expect(try types("\(modifier)+ \(modifier)- C"))
  }

  @Test("takes a letter with AltGr or Shift held as a character")
  func altGr() throws {
    #expect(try types("RIGHTALT+ E"))
    #expect(try states("LEFTSHIFT+ A") == ["on", "off"])
  }

  @Test("holds Ctrl for as long as one of two Ctrl keys is down")
  func bothCtrl() throws {
    #expect(try !types("LEFTCTRL+ RIGHTCTRL+ LEFTCTRL- C"))
    #expect(try !types("LEFTCTRL+ 2:LEFTCTRL+ LEFTCTRL- C"))
    #expect(try types("LEFTCTRL+ RIGHTCTRL+ LEFTCTRL- RIGHTCTRL- C"))
  }

  @Test("ignores the release of a key that is not held")
  func strayRelease() throws {
    #expect(try !types("LEFTCTRL+ 2:LEFTCTRL- C"))
    #expect(try types("LEFTCTRL- C"))
  }

  @Test("holds a key pressed twice until its one release")
  func pressedTwice() throws {
    #expect(try types("LEFTCTRL+ LEFTCTRL+ LEFTCTRL- C"))
  }

  @Test("holds modifiers that were down when the device was opened")
  func heldAtOpening() throws {
    var timeline = Timeline()
    try timeline.play("2:LEFTSHIFT 600")
    timeline.take(.opened(first, held: [try key("LEFTCTRL"), try key("A")]))
    try timeline.play("C 2:C")
    #expect(timeline.changes.map(\.to) == ["on"], "nothing is typed")
    try timeline.play("LEFTCTRL- C")
    #expect(timeline.changes.map(\.to) == ["on", "off"])
  }

  @Test("frees what a device held when it goes, and only that")
  func gone() throws {
    var timeline = Timeline()
    try timeline.play("LEFTSHIFT 600 LEFTCTRL+ 2:LEFTALT+")
    timeline.take(.gone(first))
    try timeline.play("2:C")
    #expect(timeline.changes.map(\.to) == ["on"], "Alt is still held on the other")
    timeline.take(.gone(second))
    try timeline.play("3:C")
    #expect(timeline.changes.map(\.to) == ["on", "off"])
  }
}

@Suite("The controller: bindings")
struct ControllerBindingTests {
  @Test("walks the keyboard machine with the default keys")
  func walk() throws {
    #expect(
      try states("SCROLLLOCK SCROLLLOCK COMPOSE INSERT ESC DICTATE EMOJI_PICKER ESC")
        == [
          "prepareToRecord", "editingText", "showingPanel", "editingText", "prepareToEditText",
          "prepareToRecord", "showingPanel", "prepareToEditText",
        ])
  }

  @Test("takes autorepeat of a bound key as nothing")
  func autorepeat() throws {
    #expect(try states("COMPOSE+ 250 COMPOSE* 33 COMPOSE*") == ["showingPanel"])
  }

  @Test("wants the modifiers of a chord held, no more and no fewer")
  func exactModifiers() throws {
    #expect(try states("LEFTCTRL+ ESC") == [])
    #expect(try states("LEFTSHIFT+ INSERT") == ["on"])
    #expect(try states("RIGHTALT+ INSERT") == ["editingText"], "AltGr is no modifier")
  }

  private func settings(_ names: [String]) throws -> Settings {
    var settings = Settings()
    let chord = try Chord(names.map { try key($0) })
    #expect(settings.bindings.bind(chord, to: .clickSwitchButton) == nil)
    return settings
  }

  @Test("takes a chord as its event, and its letter as no character, until released")
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
      try states("LEFTMETA+ LEFTSHIFT+ V", settings) == ["on"], "Shift is a modifier of chords too")
  }

  @Test("does not count the key in question among the modifiers of its chord")
  func modifierAsKey() throws {
    let settings = try settings(["LEFTCTRL", "LEFTALT"])
    #expect(try states("LEFTCTRL+ LEFTALT+", settings) == ["prepareToRecord"])
    #expect(try states("LEFTALT+ LEFTCTRL+", settings) == [])
    #expect(
      try states("LEFTCTRL+ LEFTALT+ LEFTALT+", settings) == ["prepareToRecord", "editingText"],
      "nor if it was down already")
  }

  @Test("refuses keys that make no chord")
  func faults() throws {
    #expect(throws: Chord.Fault.empty) { try Chord([]) }
    #expect(throws: Chord.Fault.endsInShift) { try Chord([try key("LEFTSHIFT")]) }
    #expect(throws: Chord.Fault.endsInShift) {
      try Chord([try key("LEFTCTRL"), try key("RIGHTSHIFT")])
    }
    #expect(throws: Chord.Fault.rightAltIsNotAModifier) {
      try Chord([try key("RIGHTALT"), try key("V")])
    }
    #expect(throws: Chord.Fault.notAModifier(place: 1)) {
      try Chord([try key("LEFTCTRL"), try key("B"), try key("V")])
    }
    #expect(throws: Chord.Fault.modifierTwice(place: 1)) {
      try Chord([try key("LEFTCTRL"), try key("RIGHTCTRL"), try key("V")])
    }
  }

  @Test("refuses one chord for two events, where left and right are the same")
  func conflict() throws {
    var bindings = Bindings()
    #expect(bindings.bind(try Chord([key("LEFTCTRL"), key("V")]), to: .tapTextField) == nil)
    let right = try Chord([key("RIGHTCTRL"), key("V")])
    #expect(bindings.bind(right, to: .tapBlankArea) == .tapTextField)
    #expect(bindings[right] == .tapTextField)
    #expect(bindings.bind(right, to: .tapTextField) == .tapTextField)
  }
}

@Suite("The controller: lost events and clients")
struct ControllerInputTests {
  @Test("takes a Shift found down as pressed at a time that nobody knows")
  func unknownTime() throws {
    var timeline = Timeline()
    timeline.take(.synchronized(first, try differences("LEFTSHIFT+"), at: at(1000)))
    try timeline.play("1100 LEFTSHIFT- RIGHTSHIFT")
    #expect(timeline.changes.map(\.to) == ["on", "off"], "100 ms later, yet no double press")
    #expect(timeline.changes.map(\.time) == [at(1000), at(1100)])
  }

  @Test("takes a second press found by a synchronization as no double press")
  func unknownSecondTime() throws {
    var timeline = Timeline()
    try timeline.play("LEFTSHIFT 100")
    timeline.take(.synchronized(first, try differences("LEFTSHIFT+"), at: timeline.time))
    #expect(timeline.changes.map(\.to) == ["on", "off"])
  }

  @Test("takes what is found as releases, then modifiers, then the rest")
  func order() throws {
    var timeline = Timeline()
    try timeline.play("LEFTSHIFT 600 LEFTALT+")
    timeline.take(.synchronized(first, try differences("C+ LEFTALT- LEFTMETA+"), at: at(700)))
    #expect(timeline.changes.map(\.to) == ["on"], "Meta was held before C")
    timeline.take(.synchronized(first, try differences("C- D+ LEFTMETA-"), at: at(800)))
    #expect(timeline.changes.map(\.to) == ["on", "off"], "Meta was released before D")
  }

  @Test("takes a bound key that is found down as its event")
  func boundKey() throws {
    var timeline = Timeline()
    timeline.take(.synchronized(first, try differences("COMPOSE+"), at: at(5)))
    try timeline.play("COMPOSE*")
    #expect(timeline.changes.map(\.to) == ["showingPanel"])
    #expect(timeline.changes.map(\.time) == [at(5)])
  }

  @Test(
    "takes a client's events as those of keys",
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

  @Test("knows no other event of clients")
  func unknownClientEvent() {
    #expect(ClientEvent(name: "vcDidTapped") == nil)
    #expect(ClientEvent(name: "") == nil)
  }

  @Test("numbers changes from 1 without a gap, whatever happens")
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
      case 0: timeline.take(.gone(device))
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
    // Each machine goes on from where it was.
    for machine in Machine.allCases {
      let own = timeline.changes.filter { $0.machine == machine }
      #expect(own.count > 100)
      #expect(zip(own, own.dropFirst()).allSatisfy { $0.to == $1.from })
      #expect(own.allSatisfy { $0.from != $0.to })
    }
  }
}

@Suite("The controller: a change of the configuration")
struct ControllerConfigurationTests {
  @Test("leaves states, sequence and held keys as they are")
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
    "judges the second press of Shift by the threshold that is in force at that press",
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

  @Test("gives up a press of Shift that might have become a tap")
  func tap() throws {
    var settings = Settings()
    settings.shiftTrigger = .tap(timeout: .milliseconds(200))
    var timeline = Timeline(settings)
    try timeline.play("LEFTSHIFT+ 50")
    timeline.configure(settings)
    try timeline.play("LEFTSHIFT-")
    #expect(timeline.changes == [])
    try timeline.play("LEFTSHIFT+ 50 LEFTSHIFT-")
    #expect(timeline.changes.map(\.to) == ["on"])
  }

  @Test("binds other keys, and what was a bound press stays one until its release")
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

@Suite("The controller: modifiers that may be held no more")
struct ControllerGrabTests {
  /// The devices that the kernel would be asked about, and for which keys, before the press.
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

  @Test("are asked about before a press that rests on them, and only then")
  func deciding() throws {
    var timeline = Timeline()
    try timeline.play("LEFTCTRL+ 2:A+ 3:LEFTMETA+")
    let third = DeviceID(order: 2)
    let (ctrl, meta) = (try key("LEFTCTRL"), try key("LEFTMETA"))
    #expect(try asked(timeline, "C", on: second) == [first: [ctrl], third: [meta]])
    #expect(try asked(timeline, "ESC", on: first) == [first: [ctrl], third: [meta]])
    #expect(try asked(timeline, "LEFTCTRL", on: first) == [:], "it is not bound")
    try timeline.play("LEFTSHIFT+")
    let shift = try key("LEFTSHIFT")
    #expect(try asked(timeline, "C", on: first) == [first: [ctrl], third: [meta]])
    #expect(try asked(timeline, "ESC", on: first) == [first: [ctrl, shift], third: [meta]])
    try timeline.play("LEFTSHIFT-")
    #expect(try asked(timeline, "F5", on: second) == [:])
    #expect(try asked(timeline, "LEFTSHIFT", on: second) == [:])
    #expect(try asked(timeline, "C", on: second, rest: [.gone(first)]) == [third: [meta]])
  }

  @Test("are not asked about where their release is known already, and is yet to act")
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

  @Test("are released first where the kernel says that they are up")
  func releases() throws {
    var timeline = Timeline()
    try timeline.play("LEFTCTRL+ 250")
    let press = KeyEvent(time: timeline.time, key: try key("INSERT"), action: .press)
    let missed = timeline.controller.missedReleases(
      before: .key(second, press), followedBy: []
    ) { keys, _ in keys }
    let release = KeyDifference(key: try key("LEFTCTRL"), isDown: false)
    #expect(missed == [.synchronized(first, [release], at: timeline.time)])
  }
}
