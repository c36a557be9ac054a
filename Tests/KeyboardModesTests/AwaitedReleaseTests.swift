import Evdev
import KeyboardModes
import Testing

private let first = DeviceID(order: 0)
private let second = DeviceID(order: 1)
private let third = DeviceID(order: 2)

private func at(_ milliseconds: Int64) -> Time { Time(microseconds: milliseconds * 1000) }

/// Every way in which a release could be lost.
@Suite("Controller: a release is never lost")
struct AwaitedReleaseTests {
  private func settings(_ chords: [(String, Use)] = [("F9", .release)]) throws -> Settings {
    try usesSettings(chords)
  }

  @Test("a device that goes away sends the releases of its own keys, at the time of that")
  func gone() throws {
    var timeline = Timeline(try settings([("F9", .release), ("F9", .tap), ("F10", .release)]))
    try timeline.play("F10+ 10 F9+ 2:F9+ 30")
    timeline.take(.gone(first, at: timeline.time))
    #expect(keyboardEvents(timeline) == ["release 40000", "release 40000"], "and no tap")
    timeline.take(.gone(first, at: timeline.time))
    try timeline.play("F9- 5 2:F9-")
    #expect(keyboardEvents(timeline).dropFirst(2) == ["tap 45000", "release 45000"])
  }

  @Test("what is due by the time at which a device went away comes first")
  func dueBeforeGone() throws {
    for (time, events) in [
      (299_999, ["release 299999"]), (300_000, ["hold 300000", "release 300000"]),
    ] as [(Int64, [String])] {
      var timeline = Timeline(
        try settings([("F9", .release), ("F9", .hold(.milliseconds(300)))]))
      try timeline.play("F9+")
      timeline.take(.gone(first, at: Time(microseconds: time)))
      #expect(keyboardEvents(timeline) == events)
    }
  }

  @Test("a reload that unbinds a release sends it first, by the old settings, at its own time")
  func unbound() throws {
    for next in [
      Settings(), try settings([("F9", .press)]), try settings([("F10", .release)]),
    ] {
      var timeline = Timeline(try settings([("F9", .release), ("F9", .tap)]))
      try timeline.play("F9+ 50")
      timeline.configure(next)
      #expect(keyboardEvents(timeline).first == "release 50000")
      let count = timeline.changes.count
      try timeline.play("F9-")
      #expect(timeline.changes.count == count)
      #expect(timeline.controller.wakeTime == nil)
    }
  }

  @Test("a reload that unbinds a release ends the use, even if it keeps the tap or the hold")
  func unboundAmongOthers() throws {
    for kept in [Use.tap, .hold(.milliseconds(100))] {
      var timeline = Timeline(try settings([("F9", .release), ("F9", kept)]))
      try timeline.play("F9+ 50")
      timeline.configure(try settings([("F9", kept)]))
      try timeline.play("20 F9- 100")
      timeline.passTime()
      #expect(keyboardEvents(timeline) == ["release 50000"], "and no \(kept)")
    }
  }

  @Test("a reload that unbinds a hold forgets when it was due, so a later release is still a tap")
  func unboundHold() throws {
    var timeline = Timeline(try settings([("F9", .tap), ("F9", .hold(.milliseconds(100)))]))
    try timeline.play("F9+ 50")
    #expect(timeline.controller.deadline == at(100))
    timeline.configure(try settings([("F9", .tap), ("F10", .hold(.milliseconds(100)))]))
    #expect(timeline.controller.deadline == nil)
    try timeline.play("100 F9-")
    #expect(keyboardEvents(timeline) == ["tap 150000"])
  }

  @Test("a reload that keeps a release sends it when the key goes up")
  func kept() throws {
    let hold = Use.hold(.milliseconds(300))
    for next in [
      try settings(), try settings([("F9", .release), ("A", .press)]),
      try settings([("F9", .release), ("F9", .hold(.milliseconds(301)))]),
      // The same events by name, in another table.
      try usesSettings([("F9", .release)], table: other()),
    ] {
      var timeline = Timeline(try settings([("F9", .release), ("F9", hold)]))
      try timeline.play("F9+ 50")
      timeline.configure(next)
      try timeline.play("400 F9-")
      #expect(
        keyboardEvents(timeline) == ["release 450000"], "what is not bound any more is not sent")
    }
    var timeline = Timeline(try settings([("F9", .release), ("F9", hold)]))
    try timeline.play("F9+ 50")
    timeline.configure(try settings([("F9", .release), ("F9", hold), ("F9", .press)]))
    try timeline.play("400 F9-")
    #expect(keyboardEvents(timeline) == ["hold 300000", "release 450000"])
  }

  /// The table of the uses with its events in another order, and so with other numbers.
  private func other() throws -> KeyboardTable {
    KeyboardTable(
      try .init(
        states: usesTable.stateNames, initial: "other1", events: usesTable.eventNames.reversed(),
        rows: usesTable.rows))
  }

  // MARK: The next daemon

  /// The controller that goes on from this one's snapshot, and the events that it sends.
  private func next(
    after timeline: Timeline, _ settings: Settings, _ inputs: [Controller.Input]
  ) -> (controller: Controller, changes: [Change]) {
    var changes: [Change] = []
    var controller = Controller(
      settings: settings, resuming: timeline.controller.snapshot, changedLast: nil,
      at: timeline.time
    ) { changes.append($0) }
    for input in inputs { controller.take(input) { changes.append($0) } }
    return (controller, changes)
  }

  @Test("the snapshot names every release that is awaited, and nothing else")
  func snapshot() throws {
    var timeline = Timeline(
      try settings([
        ("F9", .release), ("F10", .hold(.seconds(1))), ("F11", .tap), ("F12", .release),
      ]))
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

  @Test("the next daemon releases what no device holds, once all present devices are open")
  func heldByNone() throws {
    var timeline = Timeline(try settings([("F9", .release), ("F10", .release)]))
    try timeline.play("F9+ F10+")
    let opened: [Controller.Input] = [.opened(first, held: []), .opened(second, held: [])]
    let before = next(after: timeline, timeline.controller.settings, opened)
    #expect(before.changes == [])
    #expect(before.controller.snapshot.awaitedReleases.count == 2, "another daemon may follow")
    let all = next(
      after: timeline, timeline.controller.settings, opened + [.allOpened(at: at(70))])
    #expect(all.changes.map(\.event) == ["release", "release"])
    #expect(all.changes.map(\.time) == [at(70), at(70)])
    #expect(all.controller.snapshot.awaitedReleases == [])
    #expect(all.controller.revision > before.controller.revision)
  }

  @Test("in the next daemon, a use belongs to the first device that holds its key")
  func heldByFirst() throws {
    var timeline = Timeline(try settings([("F9", .release), ("F9", .tap), ("F9", .press)]))
    try timeline.play("F9+")
    let f9 = try key("F9")
    func release(_ device: DeviceID, _ time: Time) -> Controller.Input {
      .key(device, KeyEvent(time: time, key: f9, action: .release))
    }
    let opened: [Controller.Input] = [
      .opened(first, held: []), .opened(second, held: [try key("A"), f9]),
      .opened(third, held: [f9]), .allOpened(at: at(10)),
    ]
    func events(_ inputs: [Controller.Input]) -> [String] {
      next(after: timeline, timeline.controller.settings, opened + inputs)
        .changes.map { "\($0.event) \($0.time.microseconds)" }
    }
    #expect(events([]) == [])
    #expect(events([release(third, at(20))]) == [])
    #expect(events([release(second, at(20))]) == ["release 20000"], "and no tap")
    #expect(events([.gone(second, at: at(30)), release(third, at(40))]) == ["release 30000"])
    #expect(
      events([.synchronized(second, [KeyDifference(key: f9, isDown: false)], at: at(20))])
        == ["release 20000"])
    let repeated = KeyEvent(time: at(20), key: f9, action: .autorepeat)
    #expect(events([.key(second, repeated)]) == [])
    let (controller, _) = next(after: timeline, timeline.controller.settings, opened)
    #expect(controller.nextCheck != nil)
    #expect(controller.snapshot.awaitedReleases.count == 1)
  }

  @Test("in the next daemon, the autorepeat of a bound key types nothing")
  func repeatedInNext() throws {
    var timeline = Timeline(try settings([("A", .release)]))
    try timeline.play("LEFTSHIFT A+")
    #expect(timeline.controller.modes.shift == "on")
    let a = try key("A")
    let inputs: [Controller.Input] = [
      .opened(first, held: [a]), .allOpened(at: at(10)),
      .key(first, KeyEvent(time: at(20), key: a, action: .autorepeat)),
    ]
    let (controller, changes) = next(after: timeline, timeline.controller.settings, inputs)
    #expect(changes == [])
    #expect(controller.modes.shift == "on")
  }

  @Test("two awaited releases of one key end when the first device that holds it lets it go")
  func twoOfOneKey() throws {
    var timeline = Timeline(try settings())
    try timeline.play("F9+ 2:F9+")
    let f9 = try key("F9")
    for debounce in [Duration.zero, .milliseconds(5)] {
      var settings = timeline.controller.settings
      settings.debounce = debounce
      var (controller, changes) = next(
        after: timeline, settings, [.opened(first, held: [f9]), .allOpened(at: at(10))])
      #expect(changes == [])
      let up = KeyEvent(time: at(20), key: f9, action: .release)
      controller.take(.key(first, up)) { changes.append($0) }
      controller.advance(to: at(40)) { changes.append($0) }
      #expect(changes.map(\.time) == [at(20), at(20)])
      #expect(controller.nextCheck == nil)
    }
  }

  @Test("the next daemon sends a release that its own settings do not bind, and settles its bounce")
  func otherSettings() throws {
    var timeline = Timeline(try settings())
    try timeline.play("F9+")
    let f9 = try key("F9")
    let settings = try usesSettings([("F10", .press)], debounce: .milliseconds(5))
    var (controller, changes) = next(
      after: timeline, settings, [.opened(first, held: [f9]), .allOpened(at: at(10))])
    let up = KeyEvent(time: at(20), key: f9, action: .release)
    controller.take(.key(first, up)) { changes.append($0) }
    #expect(controller.deadline == at(25))
    controller.advance(to: at(25)) { changes.append($0) }
    #expect(changes.map(\.event) == ["release"])
    // An event that its table does not have cannot be sent.
    let shipped = next(
      after: timeline, Settings(), [.opened(first, held: []), .allOpened(at: at(10))])
    #expect(shipped.changes.map(\.event) == [Change.configured])
    #expect(shipped.controller.snapshot.awaitedReleases == [])
  }

  @Test("what is due comes before the releases of keys that no device holds")
  func dueBeforeAllOpened() throws {
    var settings = try settings()
    settings.shift = ShiftRules(timeout: .seconds(1))
    var timeline = Timeline(settings)
    try timeline.play("LEFTSHIFT F9+")
    let (_, changes) = next(after: timeline, settings, [.allOpened(at: at(2000))])
    #expect(changes.map(\.event) == ["timedOut", "release"])
    #expect(changes.map(\.time) == [at(1000), at(2000)])
  }

  // MARK: A grab

  /// Plays a line, then lets the daemon wake at these times; returns the keys that the kernel was
  /// asked about, by time, which it says are up from the last time on.
  private func woken(_ timeline: inout Timeline, at times: [Int64]) throws -> [String] {
    var asked: [String] = []
    for time in times {
      timeline.take(Batch(reached: at(time), settled: at(time))) { keys, device in
        asked.append("\(time): \(device.order) \(keys.map(\.number))")
        return time == times.last ? keys : []
      }
    }
    return asked
  }

  @Test("while a use is open, and only then, the kernel is asked every 250 ms")
  func asked() throws {
    var timeline = Timeline(try settings([("F9", .release), ("F10", .release)]))
    #expect(timeline.controller.wakeTime == nil)
    try timeline.play("10 F9+")
    #expect(timeline.controller.wakeTime == at(260))
    #expect(timeline.controller.nextCheck != nil)
    #expect(timeline.controller.deadline == nil, "it changes nothing by itself")
    try timeline.play("2:F10+ 2:F9+")
    let asked = try woken(&timeline, at: [259, 260, 300, 509, 510, 760])
    #expect(
      asked == [
        "260: 0 [67]", "260: 1 [68, 67]", "510: 0 [67]", "510: 1 [68, 67]", "760: 0 [67]",
        "760: 1 [68, 67]",
      ])
    #expect(keyboardEvents(timeline) == ["release 760000", "release 760000", "release 760000"])
    #expect(timeline.controller.wakeTime == nil)
    try timeline.play("F9+ F9-")
    #expect(timeline.controller.wakeTime == nil)
  }

  @Test("a hold that was sent awaits nothing more")
  func doneHold() throws {
    var timeline = Timeline(try settings([("F9", .hold(.milliseconds(100)))]))
    try timeline.play("F9+")
    #expect(timeline.controller.wakeTime == at(100))
    try timeline.play("100")
    timeline.passTime()
    #expect(timeline.controller.wakeTime == nil)
    #expect(timeline.controller.nextCheck == nil)
  }

  @Test("what is found so is a release of the key, and is recorded")
  func recorded() throws {
    var timeline = Timeline(try settings([("F9", .release), ("F9", .hold(.milliseconds(260)))]))
    try timeline.play("F9+")
    var taken: [Controller.Input] = []
    var controller = timeline.controller
    var changes: [Change] = []
    controller.take(
      Batch(reached: at(255), settled: at(254)), keysUp: { keys, _ in keys },
      taken: { taken.append($0) }, publish: { changes.append($0) })
    // Later inputs are all later than what is settled, so a replay has this order, too.
    let up = KeyEvent(time: at(254), key: try key("F9"), action: .release)
    #expect(taken == [.missedRelease(first, up.key, at: up.time)])
    #expect(changes.map(\.event) == ["release"])
    #expect(changes.map(\.time) == [at(254)])
    // A release that is still in the batch is not hidden.
    controller = timeline.controller
    controller.take(
      Batch([.key(first, up)], reached: at(255), settled: at(254)),
      keysUp: { _, _ in
        Issue.record("nothing is to be asked")
        return []
      }, publish: { _ in })
  }

  @Test("a hidden release comes after the keys that were known when it was found")
  func afterKnownKeys() throws {
    var timeline = Timeline(try settings([("F9", .release)]))
    try timeline.play("F9+")
    let press = KeyEvent(
      time: Time(microseconds: 254_900), key: try key("A"), action: .press)
    var taken: [Controller.Input] = []
    var controller = timeline.controller
    controller.take(
      Batch([.key(second, press)], reached: at(255), settled: at(254)), keysUp: { keys, _ in keys },
      taken: { taken.append($0) }, publish: { _ in })
    let after = Time(microseconds: 254_901)
    let f9 = try key("F9")
    #expect(taken == [.key(second, press), .missedRelease(first, f9, at: after)])
  }

  @Test("a hidden release of Shift closes its press before the next key takes it back")
  func hiddenShift() throws {
    for (isUp, event) in [(true, "shiftPressed"), (false, "shiftUsed")] {
      var timeline = Timeline()
      try timeline.play("LEFTSHIFT+ 700")
      let press = KeyEvent(time: timeline.time, key: try key("F5"), action: .press)
      timeline.take(Batch([.key(second, press)])) { keys, _ in isUp ? keys : [] }
      #expect(timeline.changes.last?.event == event)
    }
  }

  @Test("a hidden release of a key of a shortcut lets the next Shift count")
  func hiddenShortcut() throws {
    for name in ["LEFTCTRL", "LEFT", "BTN_LEFT"] {
      for isUp in [true, false] {
        var timeline = Timeline()
        try timeline.play("2:\(name)+ 700")
        let press = KeyEvent(time: timeline.time, key: try key("LEFTSHIFT"), action: .press)
        timeline.take(Batch([.key(first, press)])) { keys, _ in isUp ? keys : [] }
        #expect(timeline.changes.map(\.to) == (isUp ? ["on"] : []))
      }
    }
  }
}
