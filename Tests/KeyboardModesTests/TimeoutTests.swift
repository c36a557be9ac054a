import Evdev
import KeyboardModes
import Testing

private let first = DeviceID(order: 0)

private func at(_ milliseconds: Int64) -> Time { Time(microseconds: milliseconds * 1000) }

@Suite("Controller: timeout of Shift")
struct TimeoutTests {
  private let settings = Settings(shift: ShiftRules(timeout: .seconds(3)))

  private func timeline(_ line: String) throws -> Timeline {
    var timeline = Timeline(settings)
    try timeline.play(line)
    return timeline
  }

  @Test("`on` ends at the timeout, to the microsecond")
  func timedOut() throws {
    var timeline = try timeline("7us LEFTSHIFT 2999_999us")
    #expect(timeline.controller.deadline == Time(microseconds: 3_000_007))
    timeline.passTime()
    #expect(timeline.changes.map(\.to) == ["on"])
    try timeline.play("1us")
    timeline.passTime()
    #expect(
      timeline.changes.last
        == Change(
          sequence: 2, time: Time(microseconds: 3_000_007), machine: .shift, from: "on", to: "off",
          event: "timedOut"))
    #expect(timeline.controller.deadline == nil)
    #expect(timeline.controller.modes.shiftSince == Time(microseconds: 3_000_007))
    timeline.passTime()
    #expect(timeline.changes.count == 2)
  }

  @Test(
    "the timeout acts before a key event of the same time or later",
    arguments: [
      ("LEFTSHIFT 2999_999us A", ["characterTyped"]), ("LEFTSHIFT 3000 A", ["timedOut"]),
      ("LEFTSHIFT 2999_999us LEFTSHIFT", ["shiftPressed"]),
      ("LEFTSHIFT 3000 LEFTSHIFT", ["timedOut", "shiftPressed"]),
      ("LEFTSHIFT 9000 F5", ["timedOut"]), ("LEFTSHIFT+ 9000 LEFTSHIFT-", ["timedOut"]),
      ("LEFTSHIFT 3000 COMPOSE", ["timedOut", "clickMoreButton"]),
      ("LEFTSHIFT+ 3000 LEFTSHIFT*", ["timedOut"]),
    ])
  func inputs(_ line: String, _ events: [String]) throws {
    let changes = try timeline(line).changes.dropFirst()
    #expect(changes.map(\.event) == events)
    for change in changes where change.event == "timedOut" { #expect(change.time == at(3000)) }
  }

  @Test("the timeout acts before a sync or a client's event of the same time")
  func otherInputs() throws {
    for input in [
      Controller.Input.synchronized(first, try differences("A+"), at: at(3000)),
      .client(.characterTyped, at: at(3000)),
    ] {
      var timeline = try timeline("LEFTSHIFT")
      timeline.take(input)
      #expect(timeline.changes.map(\.event) == ["shiftPressed", "timedOut"])
    }
  }

  @Test("the timeout is pending only until a character or Shift ends `on`")
  func used() throws {
    #expect(try timeline("LEFTSHIFT A").controller.deadline == nil)
    #expect(try timeline("LEFTSHIFT 100 LEFTSHIFT").controller.deadline == nil, "capsLock lasts")
    #expect(try timeline("LEFTSHIFT 600 LEFTSHIFT").controller.deadline == nil)
    #expect(try timeline("LEFTSHIFT 100 COMPOSE").controller.deadline == at(3000))
    var never = Timeline()
    try never.play("LEFTSHIFT")
    #expect(never.controller.deadline == nil)
  }

  @Test("the timeout of a Shift found by a sync counts from the time of the sync")
  func lost() throws {
    var timeline = try timeline("")
    timeline.take(.synchronized(first, try differences("LEFTSHIFT+"), at: at(50)))
    #expect(timeline.controller.deadline == at(3050))
  }

  @Test("an `on` that is given back counts from its own press, if that was seen")
  func givenBack() throws {
    var timeline = try timeline("LEFTSHIFT 1000 LEFTSHIFT+ 100 F5")
    #expect(timeline.changes.map(\.to) == ["on", "off", "on"])
    #expect(timeline.controller.deadline == at(3000))
    timeline = try self.timeline("")
    timeline.take(.synchronized(first, try differences("LEFTSHIFT+"), at: at(50)))
    try timeline.play("1000 LEFTSHIFT+ 100 F5")
    #expect(timeline.changes.map(\.to) == ["on", "off", "on"])
    #expect(timeline.controller.deadline == at(4100))
  }

  @Test("the timeout of a tap counts from its press, however late the tap is settled")
  func tap() throws {
    var settings = settings
    settings.shiftTrigger = .tap
    settings.debounce = .milliseconds(5)
    var timeline = Timeline(settings)
    try timeline.play("LEFTSHIFT+ 100 LEFTSHIFT- 5")
    timeline.passTime()
    #expect(timeline.controller.deadline == at(3000))
    // At the end, a tap that could still bounce is settled before the timeout.
    var short = Timeline(
      Settings(
        shift: ShiftRules(timeout: .milliseconds(50)),
        shiftTrigger: .tap, tapTimeout: .milliseconds(200), debounce: .milliseconds(5)))
    try short.play("LEFTSHIFT+ 100 LEFTSHIFT-")
    short.end()
    #expect(short.controller.modes.shift == "off")
    #expect(short.controller.modes.shiftSince == at(50))
    #expect(short.controller.modes.sequence == 2)
  }

  @Test(
    "a tap that was released by the timeout comes before it: its press was earlier",
    arguments: [2994, 2995, 2999])
  func tapBeforeTimeout(_ released: Int) throws {
    var settings = settings
    settings.shiftTrigger = .tap
    settings.debounce = .milliseconds(5)
    var timeline = Timeline(settings)
    try timeline.play("LEFTSHIFT 2900 LEFTSHIFT+ \(released - 2900) LEFTSHIFT-")
    timeline.take(.client(.characterTyped, at: at(3000)))
    // The other way round, the timeout would end `on`, and the tap begin it again.
    #expect(timeline.changes.map(\.event) == ["shiftPressed", "shiftPressed"])
    #expect(timeline.changes.map(\.time) == [at(0), at(2900)])
    #expect(timeline.controller.modes.shift == "off")
  }

  @Test("a resumed controller keeps the deadline")
  func resumed() throws {
    let snapshot = try timeline("LEFTSHIFT 1000").controller.snapshot
    func resume(_ settings: Settings) -> Controller {
      Controller(settings: settings, resuming: snapshot, changedLast: at(0), at: at(1500)) { _ in }
    }
    var next = resume(settings)
    #expect(next.deadline == at(3000))
    var changes: [Change] = []
    next.advance(to: at(60_000)) { changes.append($0) }
    #expect(changes.map(\.time) == [at(3000)])
    #expect(resume(Settings()).deadline == nil)
  }

  @Test("resuming with a shorter timeout ends `on` no earlier than the last change")
  func resumedWithAnother() throws {
    let snapshot = try timeline("LEFTSHIFT 1000 INSERT 500").controller.snapshot
    func resume(_ timeout: Int) throws -> (Controller, [Change]) {
      let settings = Settings(shift: ShiftRules(timeout: .milliseconds(timeout)))
      var changes: [Change] = []
      let controller = Controller(
        settings: settings, resuming: snapshot, changedLast: at(1000), at: at(9000)
      ) { changes.append($0) }
      return (controller, changes)
    }
    for timeout in [400, 1000] {
      let (controller, changes) = try resume(timeout)
      #expect(changes.map(\.event) == ["timedOut"])
      #expect(changes.map(\.sequence) == [3])
      #expect(changes.map(\.time) == [at(1000)])
      #expect(controller.modes.shift == "off")
      #expect(controller.deadline == nil)
    }
    let (controller, changes) = try resume(1001)
    #expect(changes.isEmpty)
    #expect(controller.deadline == at(1001))
  }

  @Test("a reload sets a new timeout, counted from the press")
  func configured() throws {
    var timeline = try timeline("LEFTSHIFT 1000")
    func configure(_ timeout: Duration?, at time: Int64) {
      timeline.take(.configured(Settings(shift: ShiftRules(timeout: timeout)), at: at(time)))
    }
    configure(.seconds(2), at: 1000)
    #expect(timeline.controller.deadline == at(2000))
    configure(nil, at: 1000)
    #expect(timeline.controller.deadline == nil)
    timeline.passTime()
    #expect(timeline.changes.map(\.to) == ["on"])
    // A new timeout that is already over acts at the time of the reload.
    configure(.milliseconds(500), at: 1700)
    #expect(timeline.changes.last?.event == "timedOut")
    #expect(timeline.changes.last?.time == at(1700))
    // A timeout that is already due acts first, by the old settings.
    try timeline.play("LEFTSHIFT 1000")
    configure(nil, at: 9000)
    #expect(timeline.changes.last?.time == at(1500))
  }

  @Test("a timeout beyond the end of the clock sets no deadline")
  func endOfTime() throws {
    var timeline = Timeline(settings)
    timeline.take(.client(.shiftPressed, at: Time(microseconds: .max - 1)))
    #expect(timeline.controller.deadline == nil)
  }
}
