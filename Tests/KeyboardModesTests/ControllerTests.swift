import KeyboardModes
import Keyboards
import TestSupport
import Testing

private let first = DeviceID(order: 0)
private let second = DeviceID(order: 1)

private func at(_ milliseconds: Int64) -> Time { Time(microseconds: milliseconds * 1000) }

/// What the cases of `Keys.txt` do not show: whole tables of keys, and what a controller tells beside
/// its changes.
@Suite("Controller")
struct ControllerTests {
  // MARK: Tables of keys

  @Test("every character key types a character, and no other key does")
  func characterKeys() throws {
    let ranges: [ClosedRange<Int>] = [
      2...13, 16...27, 30...41, 43...53, 55...55, 57...57, 71...83, 86...86, 89...89, 98...98,
      117...117, 121...121, 124...124, 179...180,
    ]
    for number in 0...Int(KeyCode.max) {
      let key = try #require(KeyCode(number))
      guard !key.isShift, !Bindings.default.chords.map(\.key).contains(key) else { continue }
      var timeline = Timeline()
      try timeline.play("LEFTSHIFT 600")
      timeline.handle(.key(first, KeyEvent(time: timeline.time, key: key, action: .press)))
      let isCharacter = ranges.contains { $0.contains(number) }
      #expect(timeline.changes.map(\.to) == (isCharacter ? ["on", "off"] : ["on"]), "\(number)")
    }
    #expect(KeyCode(0x300) == nil)
    #expect(KeyCode(-1) == nil)
  }

  @Test("all codes take a revocable Shift back but characters, Shift, AltGr and what is no key")
  func inertCodes() throws {
    let ranges: [ClosedRange<UInt16>] = [
      100...100, 0x100...0x10f, 0x118...0x15f, 0x220...0x223, 0x2c0...0x2e7,
    ]
    for number in 0...KeyCode.max {
      let code = try #require(KeyCode(number))
      guard !code.isCharacter, !code.isShift else { continue }
      var timeline = Timeline()
      try timeline.play("LEFTSHIFT+")
      timeline.handle(.key(second, KeyEvent(time: timeline.time, key: code, action: .press)))
      let means = !ranges.contains { $0.contains(number) }
      #expect(timeline.controller.states.shift == (means ? "off" : "on"), "\(number)")
      #expect(timeline.controller.snapshot.shift == .off || !means)
      // Neither do they come between the press and the release of a tap; AltGr does.
      var tap = Timeline(Settings(shiftTrigger: .tap))
      try tap.play("LEFTSHIFT+")
      tap.handle(.key(second, KeyEvent(time: tap.time, key: code, action: .press)))
      try tap.play("LEFTSHIFT- 1 pass")
      #expect(tap.controller.states.shift == (means || number == 100 ? "off" : "on"), "\(number)")
      // What takes a revocable Shift back uses up one that is not revocable, if it may.
      for used in Settings.KeysUsingShift.allCases {
        var timeline = Timeline(Settings(shiftUsedBy: used))
        try timeline.play("LEFTSHIFT")
        timeline.handle(.key(second, KeyEvent(time: timeline.time, key: code, action: .press)))
        #expect(
          timeline.controller.states.shift == (means && used == .any ? "off" : "on"), "\(number)")
      }
    }
  }

  @Test(
    "a Shift pressed while Ctrl, left Alt, Meta, a navigation key or a button is held is no event",
    arguments: [
      "LEFTCTRL", "RIGHTCTRL", "LEFTALT", "LEFTMETA", "RIGHTMETA", "HOME", "UP", "PAGEUP", "LEFT",
      "RIGHT", "END", "DOWN", "PAGEDOWN", "BTN_LEFT", "BTN_RIGHT", "BTN_MIDDLE", "BTN_SIDE",
      "BTN_EXTRA", "BTN_FORWARD", "BTN_BACK", "BTN_TASK",
    ], ["LEFTSHIFT", "2:RIGHTSHIFT"])
  func held(_ key: String, _ shift: String) throws {
    #expect(try states("\(key)+ \(shift) 100 \(shift)") == [])
    #expect(try states("\(key)+ \(key)- \(shift)") == ["on"], "it is held no more")
    let tap = Settings(shiftTrigger: .tap)
    #expect(try states("\(key)+ \(shift)", tap) == [])
    #expect(try states("\(key)+ \(key)- \(shift) 1 pass", tap) == ["on"])
    let always = Settings(shiftTrigger: .always)
    #expect(try states("\(key)+ \(shift) 100 \(shift)", always) == ["on", "capsLock"])
  }

  @Test(
    "any other key that is held makes no shortcut of Shift",
    arguments: [
      "A", "ENTER", "F5", "RIGHTALT", "ESC", "SYSRQ", "INSERT", "KP4", "BTN_TOUCH", "BTN_SOUTH",
      "BTN_TRIGGER", "BTN_TOOL_FINGER", "BTN_0", "BTN_DPAD_UP", "BTN_TRIGGER_HAPPY1",
    ])
  func others(_ key: String) throws {
    var timeline = Timeline()
    try timeline.play("\(key)+ LEFTSHIFT 100 LEFTSHIFT")
    #expect(timeline.changes.filter { $0.machine == .shift }.map(\.to) == ["on", "capsLock"])
  }

  // MARK: What a controller tells

  @Test("the meaning of a press tells what Shift would do")
  func meaning() throws {
    var timeline = Timeline()
    func meaning(_ name: String) throws -> PressMeaning? {
      let (key, time) = (try key(name), timeline.time)
      return timeline.controller.meaning(ofPress: key, on: first, at: time)?.meaning
    }
    #expect(try meaning("LEFTSHIFT") == .shift)
    try timeline.play("2:LEFT+")
    #expect(try meaning("LEFTSHIFT") == .other)
    #expect(try meaning("RIGHTALT") == .altGr)
    #expect(try meaning("BTN_TOUCH") == .inert)
    #expect(try meaning("BTN_LEFT") == .button)
  }

  @Test("a bounce has no meaning, which depends on the device and on the time since its release")
  func bounce() throws {
    var timeline = Timeline(Settings(debounce: .milliseconds(5)))
    try timeline.play("A+ 10 A-")
    let a = try key("A")
    func isBounce(_ device: DeviceID, _ microseconds: Int64) -> Bool {
      let time = Time(microseconds: 10_000 + microseconds)
      return timeline.controller.meaning(ofPress: a, on: device, at: time) == nil
    }
    #expect(isBounce(first, 4999))
    #expect(!isBounce(first, 5000))
    #expect(!isBounce(second, 0))
  }

  @Test("releases are forgotten when debouncing is turned off")
  func withoutDebouncing() throws {
    let settings = Settings(debounce: .milliseconds(5))
    var timeline = Timeline(settings)
    try timeline.play("A+ 10 A-")
    timeline.configure(Settings())
    timeline.configure(settings)
    let meaning = timeline.controller.meaning(ofPress: try key("A"), on: first, at: timeline.time)
    #expect(meaning != nil, "a bounce")
  }

  @Test("an on whose press time alone changes is no change, but the store keeps it")
  func timeAlone() throws {
    var timeline = Timeline()
    try timeline.play("LEFTSHIFT 600 LEFTSHIFT+ 10 RIGHTSHIFT+")
    #expect(timeline.changes.map(\.to) == ["on", "off", "on"])
    let before = timeline.controller
    #expect(before.snapshot.shift == .on(since: at(610)))
    try timeline.play("F5")
    #expect(timeline.changes.count == 3)
    #expect(timeline.controller.states == before.states)
    #expect(timeline.controller.snapshot.shift == .on(since: at(0)))
    #expect(timeline.controller.revision > before.revision)
    let revision = timeline.controller.revision
    try timeline.play("F5 LEFTSHIFT- RIGHTSHIFT- F5")
    #expect(timeline.controller.revision == revision, "nothing of the snapshot changed")
  }

  @Test("a timeout beyond the end of the clock sets no deadline")
  func endOfTime() throws {
    var timeline = Timeline(Settings(shift: ShiftRules(timeout: .seconds(3))))
    timeline.handle(.client(.shiftPressed, at: Time(microseconds: .max - 1)))
    #expect(timeline.controller.deadline == nil)
  }
}

@Suite("Controller: the next daemon")
struct ResumedControllerTests {
  @Test("a resumed controller keeps the deadline")
  func resumed() throws {
    var timeline = Timeline(Settings(shift: ShiftRules(timeout: .seconds(3))))
    try timeline.play("LEFTSHIFT 1500")
    var other = timeline
    timeline.restart(timeline.next, changedLast: at(0))
    #expect(timeline.controller.deadline == at(3000))
    try timeline.play("60000 pass")
    #expect(timeline.changes.map(\.time) == [at(0), at(3000)])
    other.restart(Settings(), changedLast: at(0))
    #expect(other.controller.deadline == nil)
  }

  @Test("resuming with a shorter timeout ends `on` no earlier than the last change")
  func resumedWithAnother() throws {
    for (timeout, end) in [(400, 1000), (1000, 1000), (1001, nil)] as [(Int, Int64?)] {
      var timeline = Timeline(Settings(shift: ShiftRules(timeout: .seconds(3))))
      try timeline.play("LEFTSHIFT 1000 INSERT 8000")
      let settings = Settings(shift: ShiftRules(timeout: .milliseconds(timeout)))
      timeline.restart(settings, changedLast: at(1000))
      #expect(timeline.changes.dropFirst(2).map(\.event) == (end == nil ? [] : ["timedOut"]))
      #expect(timeline.changes.last?.time == at(1000))
      #expect(timeline.changes.map(\.sequence) == Array(1...Int64(timeline.changes.count)))
      #expect(timeline.controller.deadline == (end == nil ? at(1001) : nil))
    }
  }

  @Test("the snapshot names every release that is awaited, and nothing else")
  func snapshot() throws {
    var timeline = Timeline(
      try Settings(text: "F9 release, F10 hold 1000, F11 tap, F12 release"))
    let revision = timeline.controller.revision
    try timeline.play("F9+ F10+ F11+ 2:F9+ F12+")
    #expect(timeline.controller.revision > revision)
    let awaited = try ["F9", "F9", "F12"].map { AwaitedRelease(key: try key($0), event: "release") }
    #expect(timeline.controller.snapshot.awaitedReleases == awaited)
    try timeline.play("F9-")
    #expect(timeline.controller.snapshot.awaitedReleases == [awaited[1], awaited[2]])
    try timeline.play("F10- F11- 2:F9- F12-")
    #expect(timeline.controller.snapshot.awaitedReleases == [])
  }

  @Test("a release stays awaited over several daemons until all devices are open")
  func severalDaemons() throws {
    var timeline = Timeline(try Settings(text: "F9 release, F10 release"))
    try timeline.play("F9+ F10+ restart[] opened[] 2:opened[]")
    #expect(timeline.controller.snapshot.awaitedReleases.count == 2, "another daemon may follow")
    let revision = timeline.controller.revision
    try timeline.play("2:opened[F9]")
    #expect(timeline.controller.snapshot.awaitedReleases.count == 2)
    #expect(timeline.controller.nextCheck != nil)
    try timeline.play("allOpened[]")
    #expect(timeline.controller.snapshot.awaitedReleases.count == 1)
    #expect(timeline.controller.revision > revision)
    timeline.restart(Settings())
    try timeline.play("opened[] allOpened[]")
    #expect(timeline.controller.snapshot.awaitedReleases == [])
  }

  @Test("a reload keeps a release whose event has another number in the new table")
  func otherNumbers() throws {
    var timeline = Timeline(try Settings(text: "F9 release, F9 hold 300"))
    try timeline.play("F9+ 50")
    var next = Settings(
      keyboard: CompiledTable(
        try .init(
          states: usesTable.stateNames, initial: "other1", events: usesTable.eventNames.reversed(),
          rows: usesTable.rows)), bindings: Bindings())
    let release = try #require(next.keyboard.event(named: "release"))
    #expect(next.bindings.bind(try Chord([key("F9")]), .release, to: release) == nil)
    timeline.configure(next)
    try timeline.play("400 F9-")
    #expect(timeline.changes.map(\.event) == ["release"])
    #expect(timeline.changes.map(\.time) == [at(450)])
  }
}
