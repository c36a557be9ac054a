import KeyboardModes
import TestSupport
import Testing

@Suite("Locks")
struct LockTests {
  typealias State = LockRules.State
  typealias Event = LockRules.Event

  static let table: [(State, Event, State?)] = [
    (.unknown, .ledOn, .on), (.unknown, .ledOff, .off), (.unknown, .ledGone, nil),
    (.off, .ledOn, .on), (.off, .ledOff, nil), (.off, .ledGone, .unknown),
    (.on, .ledOn, nil), (.on, .ledOff, .off), (.on, .ledGone, .unknown),
  ]

  @Test("every event leads from every state to the expected one", arguments: table)
  func next(_ state: State, _ event: Event, _ expected: State?) {
    #expect(LockRules().next(state, on: event) == expected)
  }

  @Test("the table has each pair once, and a lock is unknown at first")
  func complete() {
    #expect(Set(Self.table.map { "\($0.0) \($0.1)" }).count == 9)
    #expect(State.allCases.count * Event.allCases.count == 9)
    #expect(LockRules().initial == .unknown)
    #expect(Controller().states.locks == LockStates(caps: .unknown, num: .unknown))
  }

  @Test("a lock has the LED and the machine of its name")
  func leds() {
    #expect(Lock.allCases.map { $0.led.numbers } == [[1], [0]])
    #expect(Lock.allCases.map(\.machine) == [.caps, .num])
  }

  // MARK: The limit

  /// A timeline whose LED of `lock` has gone on and off, `count` times in all, each a time after the
  /// one before.
  private func blinking(
    _ count: Int, every microseconds: Int64, _ lock: String = "caps"
  ) throws -> Timeline {
    var timeline = Timeline()
    for number in 0..<count {
      if number > 0 { try timeline.play("\(microseconds)us") }
      try timeline.play("leds[\(lock)\(number.isMultiple(of: 2) ? "+" : "-")]")
    }
    return timeline
  }

  @Test(
    "20 changes in a second are told, and the 21st makes the lock unknown", arguments: Lock.allCases
  )
  func limit(_ lock: Lock) throws {
    let name = lock.machine.rawValue
    // The last one is one microsecond less than a second after the first.
    let few = try blinking(20, every: 52_631, name)
    #expect(few.changes.map(\.to) == (0..<20).map { $0.isMultiple(of: 2) ? "on" : "off" })
    #expect(few.changes.allSatisfy { $0.machine == lock.machine })
    #expect(few.controller.deadline == nil)

    var many = try blinking(21, every: 49_999, name)
    #expect(many.changes.count == 21)
    #expect(many.changes.last?.event == "ledGone")
    #expect(many.changes.last?.to == "unknown")
    #expect(many.changes.last?.time == many.time)
    let end = many.time.microseconds + 1_000_000
    #expect(many.controller.deadline == Time(microseconds: end))

    try many.play("999_999us pass")
    #expect(many.changes.count == 21, "a second has not passed")
    try many.play("1us pass")
    #expect(many.changes.count == 22)
    #expect(many.changes.last?.time == Time(microseconds: end))
    #expect(many.controller.states.locks[lock] == .on)
    #expect(many.controller.deadline == nil)
  }

  @Test("21 changes of which the last is a second after the first are told")
  func boundary() throws {
    #expect(try blinking(21, every: 50_000).changes.count == 21)
    #expect(try blinking(21, every: 50_000).changes.last?.to == "on")
    #expect(try blinking(200, every: 50_000).changes.allSatisfy { $0.to != "unknown" })
  }

  @Test("it does not matter when the second begins")
  func sliding() throws {
    var timeline = Timeline()
    try timeline.play("leds[caps+] 900 leds[caps-] 50")
    for _ in 0..<10 { try timeline.play("10 leds[caps+] 10 leds[caps-]") }
    #expect(timeline.changes.last?.to == "unknown")
  }

  @Test("each change extends the second, and a report without a change does not")
  func extended() throws {
    var timeline = try blinking(21, every: 1000)
    try timeline.play("500 leds[caps-] 700 pass")
    #expect(timeline.changes.count == 21)
    try timeline.play("100 leds[caps-] 200 pass")
    let start = try #require(timeline.changes.last?.time.microseconds)
    #expect(timeline.changes.count == 22)
    #expect(timeline.changes.last?.to == "off")
    #expect(start == 20_000 + 1_500_000, "a second after the last change, not when it was noticed")
  }

  @Test("a change just when the second ends comes after what was shown until then")
  func endsAtOnce() throws {
    var timeline = try blinking(21, every: 1000)
    try timeline.play("1000 leds[caps-]")
    let last = timeline.changes.suffix(2)
    #expect(last.map(\.to) == ["on", "off"])
    #expect(last.allSatisfy { $0.time == timeline.time })
    #expect(timeline.controller.deadline == nil, "it counts anew")
  }

  @Test("the other lock goes on meanwhile, and unplugging does not end the second")
  func other() throws {
    var timeline = try blinking(21, every: 1000)
    try timeline.play("leds[num+] 10 gone[]")
    #expect(timeline.changes.suffix(2).map(\.to) == ["on", "unknown"])
    #expect(timeline.changes.suffix(2).allSatisfy { $0.machine == .num })
    try timeline.play("1000 pass")
    #expect(timeline.controller.states.locks == LockStates())
    #expect(timeline.changes.count == 23)
  }

  @Test("a keyboard that goes away counts if it changes the lock, and one that is opened does not")
  func unplugging() throws {
    var timeline = Timeline()
    try timeline.play("leds[caps-] 2:leds[caps+]")
    for _ in 0..<9 {
      try timeline.play("10 leds[caps+] 2:leds[caps-] 10 2:leds[caps+] leds[caps-]")
    }
    #expect(timeline.changes.count == 2, "one of the two shows it all the time")
    for _ in 0..<9 { try timeline.play("10 2:leds[caps-] 10 2:leds[caps+]") }
    #expect(timeline.changes.count == 20)
    try timeline.play("10 3:opened[] 3:has[caps+] 10 3:gone[]")
    #expect(timeline.changes.count == 20, "it changed nothing")
    try timeline.play("10 2:gone[]")
    #expect(timeline.changes.last?.to == "unknown", "the 21st change")
  }

  @Test("what is due at one time: a release, a hold, a lock, a tap of Shift, and the timeout")
  func order() throws {
    let settings = "debounce 5, trigger tap, timeout 1000, F9 release, F10 hold 300"
    for (taps, last) in [(true, ["shiftPressed"]), (false, ["timedOut"])] {
      var timeline = Timeline(try Settings(text: settings))
      for _ in 0..<11 { try timeline.play("leds[caps+] leds[caps-]") }
      try timeline.play("LEFTSHIFT 5 pass 695 F10+ 200 F9+ 90")
      try timeline.play(taps ? "LEFTSHIFT+ 5 LEFTSHIFT-" : "5")
      try timeline.play("F9-")
      let before = timeline.changes.count
      try timeline.play("5 pass")
      let due = timeline.changes.dropFirst(before).map(\.event)
      #expect(due == ["release", "hold", "ledOff"] + last)
      #expect(timeline.time == Time(microseconds: 1_000_000))
    }
  }

  @Test("LEDs at opening are no change, so they do not count")
  func opening() throws {
    var timeline = Timeline()
    try timeline.play("has[caps+] allOpened[]")
    for _ in 0..<10 { try timeline.play("10 leds[caps-] 10 leds[caps+]") }
    #expect(timeline.changes.count == 21)
    #expect(timeline.changes.last?.to == "on")
    try timeline.play("10 leds[caps-]")
    #expect(timeline.changes.last?.to == "unknown")
  }

  @Test("two keyboards that disagree for ever are one change")
  func disagreeing() throws {
    var timeline = Timeline()
    try timeline.play("2:leds[caps+]")
    for _ in 0..<100 { try timeline.play("1 leds[caps+] 1 leds[caps-]") }
    #expect(timeline.changes.map(\.to) == ["on"])
    #expect(timeline.controller.deadline == nil)
  }

  @Test("a second that would end behind the end of time hides nothing")
  func endOfTime() {
    var controller = Controller()
    let time = Time(microseconds: .max)
    for number in 0..<30 {
      let report = LEDReport(Lock.caps.led, on: number.isMultiple(of: 2) ? Lock.caps.led : [])
      #expect(controller.handle(.leds(DeviceID(order: 0), report, at: time)).count == 1)
    }
    #expect(controller.deadline == nil)
  }
}
