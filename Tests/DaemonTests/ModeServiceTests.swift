import KeyboardModes
import System
import Terminal
import TestSupport
import Testing
import Wire

@testable import Daemon

private let first = DeviceID(order: 0)
private let second = DeviceID(order: 1)

private func input(
  _ device: DeviceID, _ milliseconds: Int64, _ number: Int, _ action: KeyEvent.Action
) throws -> Controller.Input {
  .key(
    device,
    KeyEvent(
      time: Time(microseconds: milliseconds * 1000), key: try #require(KeyCode(number)),
      action: action))
}

@Suite("Service: modifiers whose release a grab hid")
struct ModeServiceTests {
  private let shift = 42
  private let ctrl = 29
  private let c = 46

  @Test("a modifier that the kernel reports as up is released before a press on another device")
  func released() throws {
    let keyboards = FakeKeyboards()
    let service = TestService(Settings(), keyboards)
    service.handle([
      try input(first, 0, shift, .press), try input(first, 0, shift, .release),
      try input(second, 1, ctrl, .press),
    ])
    service.handle([try input(first, 700, c, .press)])
    #expect(service.controller.states.shift == "on", "the kernel says that Ctrl is down")
    keyboards.up = [try #require(KeyCode(ctrl))]
    service.handle([try input(first, 800, c, .press)])
    #expect(service.controller.states.shift == "off")
    #expect(keyboards.asked == 2)
    service.handle([try input(first, 900, c, .press)])
    #expect(keyboards.asked == 2, "nothing is held any more")
  }
}

@Suite("Service: deadlines")
struct ModeServiceTimeTests {
  private let settings = Settings(shift: ShiftRules(timeout: .seconds(3)))

  private func at(_ milliseconds: Int64) -> Time { Time(microseconds: milliseconds * 1000) }

  @Test("a wakeup is due only while a deadline is")
  func asked() throws {
    let keyboards = FakeKeyboards()
    let service = TestService(settings, keyboards)
    service.service.advance()
    service.handle([try input(first, 0, 30, .press)])
    #expect(service.wakeTime == nil)
    service.handle([try input(first, 10, 42, .press)])
    service.handle([try input(first, 20, 42, .release)])
    #expect(service.wakeTime == at(3010))
    service.handle([try input(first, 30, 30, .press)])
    #expect(service.wakeTime == nil)
  }

  @Test("a recording that ends with a bound key down does not wake the daemon")
  func notAsked() throws {
    for (canFindKeysUp, due) in [(true, at(250)), (false, nil)] {
      let keyboards = FakeKeyboards()
      keyboards.canFindKeysUp = canFindKeysUp
      let f9 = try #require(KeyCode(67))
      var bindings = Bindings()
      let event = try #require(CompiledTable.shipped.event(named: "tapBlankArea"))
      _ = bindings.bind(try Chord([f9]), .release, to: event)
      let service = TestService(Settings(bindings: bindings), keyboards)
      service.handle([try input(first, 0, 67, .press)])
      #expect(service.wakeTime == due)
    }
  }

  @Test(
    "an event that changes nothing says so, although a tap of Shift that waited counts before it")
  func ignored() throws {
    let keyboards = FakeKeyboards()
    let service = TestService(Settings(shiftTrigger: .tap, debounce: .milliseconds(30)), keyboards)
    #expect(try service.trigger("tapTextField"))
    service.handle([try input(first, 0, 42, .press), try input(first, 20, 42, .release)])
    keyboards.now = at(40)
    #expect(try !service.trigger("tapTextField"))
    #expect(service.controller.states.shift == "on")
    #expect(try service.trigger("shiftPressed"))
    #expect(service.controller.states.shift == "capsLock")
  }

  @Test("a deadline acts when the clock reaches it, and its change is published at once")
  func due() throws {
    let keyboards = FakeKeyboards()
    let service = TestService(settings, keyboards)
    var position = SubscriberPosition(sequence: 0)
    service.handle([try input(first, 0, 42, .press)])
    #expect(service.publisher.next(for: &position) != nil)
    keyboards.now = Time(microseconds: 2_999_999)
    service.awake()
    #expect(service.controller.states.shift == "on")
    #expect(service.publisher.next(for: &position) == nil)
    #expect(service.wakeTime == at(3000), "woken too early, it is woken again")
    keyboards.now = at(3500)
    service.awake()
    #expect(service.controller.states.shift == "off")
    #expect(service.controller.states.shiftSince == at(3000))
    #expect(service.wakeTime == nil)
    #expect(service.publisher.next(for: &position) != nil)
  }

  @Test("the alarm is off while nothing is due, and follows a clock that jumps")
  func alarm() throws {
    let keyboards = FakeKeyboards()
    let service = TestService(settings, keyboards)
    let loop = try EventLoop()
    try service.service.start(on: loop)
    let bound = try loop.addTimer {
      Issue.record("the alarm did not come")
      loop.stop()
    }
    // Shift is on, which times out now, and then is used.
    keyboards.origin = microsecondsSinceBoot() - 3_000_000
    service.handle([try input(first, 0, 42, .press)])
    service.handle([try input(first, 10, 30, .press)])
    #expect(service.wakeTime == nil)
    let reads = keyboards.reads
    while try loop.runOnce() {}
    #expect(keyboards.reads == reads)
    // The same deadline comes an hour earlier.
    service.handle([try input(first, 0, 42, .press)])
    keyboards.origin += 3_600_000_000
    service.service.advance()
    #expect(service.wakeTime == at(3000))
    while try loop.runOnce() {}
    #expect(keyboards.reads == reads + 2)
    keyboards.origin -= 3_600_000_000
    service.service.advance()
    bound.set(after: .seconds(60))
    // The clock of the keys is behind, so the alarm comes again and again.
    let early = keyboards.reads
    while keyboards.reads < early + 2 { _ = try loop.runOnce() }
    keyboards.now = at(3000)
    while service.controller.states.shift == "on" { _ = try loop.runOnce() }
    #expect(service.wakeTime == nil)
  }

  @Test("statistics have boot time, not the time of the input source")
  func uptime() throws {
    let keyboards = FakeKeyboards()
    var clock: Int64 = 7
    let callHandler = TestService(settings, keyboards).callHandler(sinceBoot: { clock })
    keyboards.now = at(90_000)
    clock = 5_000_007
    let statistics = callHandler.statistics(clients: 0)
    #expect(statistics.started == Time(microseconds: 7))
    #expect(statistics.time == Time(microseconds: 5_000_007))
  }

  @Test("a client's event comes before key events that are yet to be read")
  func sent() throws {
    let keyboards = FakeKeyboards()
    let service = TestService(settings, keyboards)
    keyboards.now = at(5000)
    keyboards.reached = at(4000)
    try service.trigger("shiftPressed")
    #expect(service.controller.states.shiftSince == at(4000))
    service.handle([try input(first, 4200, 42, .press)])
    #expect(service.controller.states.shift == "capsLock")
    #expect(service.controller.states.shiftSince == Time(microseconds: 4_200_000))
  }

  @Test("a deadline acts after earlier events that were not read yet")
  func late() throws {
    let keyboards = FakeKeyboards()
    let service = TestService(settings, keyboards)
    service.handle([try input(first, 0, 42, .press)])
    keyboards.now = at(3500)
    let character = try input(first, 2999, 30, .press)
    keyboards.unread = [character]
    service.awake()
    #expect(service.controller.states.shiftSince == at(2999), "used in time")
  }

  @Test("a reload changes the deadline, and what was due by the old settings acts first")
  func reload() throws {
    let keyboards = FakeKeyboards()
    let service = TestService(Settings(), keyboards)
    service.handle([try input(first, 0, 42, .press)])
    keyboards.now = at(1000)
    for (timeout, time) in [(3, at(3000)), (2, at(2000)), (nil, nil)] as [(Int?, Time?)] {
      try service.apply(Settings(shift: ShiftRules(timeout: timeout.map { .seconds($0) })))
      #expect(service.wakeTime == time)
    }
    try service.apply(settings)
    keyboards.now = at(5000)
    try service.apply(Settings())
    #expect(service.controller.states.shift == "off", "it was due by the old settings")
  }

  @Test("what a reload finds on the devices that it opens takes effect at once")
  func reloadFinds() throws {
    let keyboards = FakeKeyboards()
    let service = TestService(settings, keyboards)
    keyboards.found = [try input(first, 0, 42, .press)]
    try service.apply(settings)
    #expect(service.controller.states.shift == "on")
    #expect(service.wakeTime == at(3000))
  }
}

@Suite("Log")
struct LogTests {
  @Test("control and format characters in a device name are replaced")
  func controlCharacters() {
    #expect(printable("Müller 键盘 \"x\"") == "Müller 键盘 \"x\"")
    #expect(
      printable("a\n<0>b\u{1b}[31m\u{7f}\u{9b}")
        == "a\u{fffd}<0>b\u{fffd}[31m\u{fffd}\u{fffd}")
    #expect(printable("a\u{2028}b\u{2029}c\u{85}") == "a\u{fffd}b\u{fffd}c\u{fffd}")
    #expect(
      printable("line\u{2028}bidi\u{202e}zero\u{200b}") == "line\u{fffd}bidi\u{fffd}zero\u{fffd}")
  }

  @Test("of ASCII the control characters are replaced, alone and beside others")
  func ascii() {
    for scalar in (UInt8.min..<0x80).map(Unicode.Scalar.init) {
      let isShown = scalar.properties.generalCategory != .control
      #expect(scalar.isShown == isShown, "\(scalar.value)")
      for rest in ["", " → b"] {
        #expect(printable("\(scalar)\(rest)") == "\(isShown ? scalar : "\u{fffd}")\(rest)")
      }
    }
  }
}

@Suite("Service: LEDs")
struct ModeServiceLEDTests {
  private let capsLock = LEDs(number: 1)
  private let misc = LEDs(number: 8)
  private let shift = 42
  private let insert = 110
  private let a = 30

  @Test("LEDs are set when they change, and by no other change or key")
  func switched() throws {
    let keyboards = FakeKeyboards()
    let service = TestService(Settings(), keyboards)
    service.service.show(LEDRules(["capsLock": capsLock, "editingText": misc]))
    let both: LEDs = [capsLock, misc]
    var expected = [LEDCommand([], of: both)]
    #expect(keyboards.leds == expected, "those of states that nothing is in yet are off")
    service.handle([try input(first, 0, shift, .press), try input(first, 10, shift, .release)])
    service.handle([try input(first, 20, a, .press), try input(first, 30, a, .release)])
    #expect(service.controller.states.sequence == 2)
    #expect(keyboards.leds == expected, "no LED shows on")
    service.handle([
      try input(first, 40, shift, .press), try input(first, 44, shift, .release),
      try input(first, 50, shift, .press), try input(first, 54, shift, .release),
    ])
    expected.append(LEDCommand(capsLock, of: both))
    #expect(keyboards.leds == expected)
    service.handle([try input(first, 60, insert, .press)])
    expected.append(LEDCommand(both, of: both))
    #expect(keyboards.leds == expected)
    service.handle([try input(first, 70, a, .press), try input(first, 80, insert, .release)])
    #expect(keyboards.leds == expected, "a key that changes nothing")
    service.handle([try input(first, 90, shift, .press)])
    expected.append(LEDCommand(misc, of: both))
    #expect(keyboards.leds == expected)
  }

  @Test("a reload sets the LEDs by the new rules")
  func configured() throws {
    let keyboards = FakeKeyboards()
    let service = TestService(Settings(), keyboards)
    service.handle([try input(first, 0, insert, .press)])
    #expect(keyboards.leds == [], "nothing is asked of them where they tell of nothing")
    try service.apply(Settings(), LEDRules(["editingText": misc]))
    #expect(keyboards.leds == [LEDCommand(misc, of: misc)])
    try service.apply(Settings(), LEDRules(["editingText": capsLock]))
    #expect(keyboards.leds.last == LEDCommand(capsLock, of: capsLock))
    try service.apply(Settings())
    #expect(keyboards.leds.last == LEDCommand([], of: []))
  }
}
