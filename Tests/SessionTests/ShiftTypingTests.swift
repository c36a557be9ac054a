import KeyboardModes
import KeymodeClient
import System
import TestSupport
import Testing

@testable import Session

/// What becomes known, and passing time, for ``ShiftTyping``.
private enum Step {
  /// A change of Shift, of the keyboard, or of the LED of Caps Lock.
  case shift(String), keyboard, led(LockRules.State)
  /// The states as they are, with this session in front.
  case found(String, LockRules.State, in: String = "a", isOnXorg: Bool = false)
  /// Another console is in front, or the session is locked.
  case behind, locked
  case away, silent, end
  /// It is this time now, in microseconds.
  case at(Int64)
}

/// The person's view: what happens, and what the virtual keyboard does each time.
private struct Timeline: CustomTestStringConvertible {
  let testDescription: String
  let steps: [(Step, String)]
  let ours: Set<String>

  init(_ name: String, ours: Set<String> = [], _ steps: (Step, String)...) {
    (testDescription, self.ours, self.steps) = (name, ours, steps)
  }
}

/// Drives the rules with states that a daemon could tell.
private struct Driver {
  var typing: ShiftTyping
  var now: Int64 = 0
  private(set) var states = States(
    sequence: 1, shift: "off", shiftSince: nil, keyboard: "idle", keyboardSince: nil)
  private var session = "a"
  private var isOnXorg = false

  init(_ typing: ShiftTyping) { self.typing = typing }

  mutating func handle(_ step: Step) -> [ShiftTyping.Action] {
    switch step {
    case .shift(let state): return change(.shift, to: state)
    case .keyboard: return change(.keyboard, to: "editing")
    case .led(let state): return change(.caps, to: state.rawValue)
    case .found(let shift, let led, let session, let isOnXorg):
      (self.session, self.isOnXorg) = (session, isOnXorg)
      states = States(
        sequence: states.sequence, shift: shift, shiftSince: nil, keyboard: states.keyboard,
        keyboardSince: nil, locks: LockStates(caps: led))
      return tell(.states(EffectiveStates(states), change: nil))
    case .away: return tell(.unknown(.noDaemon(.connectionLost)))
    case .behind: return tell(.unknown(.sessionNotInFront(.inactive)))
    case .locked: return tell(.unknown(.sessionNotInFront(.locked)))
    case .silent: return typing.loseDaemon(at: now)
    case .end: return typing.end(at: now)
    case .at(let time):
      now = time
      return typing.passTime(to: now)
    }
  }

  private mutating func change(_ machine: MachineName, to state: String) -> [ShiftTyping.Action] {
    let change = Change(
      sequence: states.sequence + 1, time: Time(microseconds: now), machine: machine, from: "x",
      to: state, event: "e")
    states = States(
      sequence: change.sequence, shift: machine == .shift ? state : states.shift, shiftSince: nil,
      keyboard: machine == .keyboard ? state : states.keyboard, keyboardSince: nil,
      locks: machine == .caps
        ? LockStates(caps: LockRules.State(rawValue: state) ?? .unknown) : states.locks)
    return tell(.states(EffectiveStates(states), change: change))
  }

  private mutating func tell(_ update: StatesUpdate) -> [ShiftTyping.Action] {
    typing.handle(update, in: session, isOnXorg: isOnXorg, at: now)
  }
}

extension [ShiftTyping.Action] {
  fileprivate var text: String {
    map { action in
      switch action {
      case .press: "press"
      case .release: "release"
      case .tapCapsLock: "tap"
      case .giveUpCapsLock: "give up"
      }
    }.joined(separator: ", ")
  }
}

@Suite("Session: what the virtual keyboard types")
struct ShiftTypingTests {
  private static let timelines = [
    Timeline(
      "one shot is down while the state is on",
      (.found("off", .off), ""), (.shift("on"), "press"), (.shift("off"), "release"),
      (.shift("on"), "press"), (.keyboard, ""), (.led(.on), ""), (.shift("off"), "release")),
    Timeline(
      "one shot is down for three seconds at most, and only once for a change",
      (.found("off", .off), ""), (.at(1_000_000), ""), (.shift("on"), "press"),
      (.at(3_999_999), ""), (.at(4_000_000), "release"), (.at(9_000_000), ""), (.keyboard, ""),
      (.shift("off"), ""), (.shift("on"), "press")),
    Timeline(
      "one shot before Caps Lock is up first",
      (.found("off", .off), ""), (.shift("on"), "press"), (.shift("capsLock"), "release, tap"),
      (.led(.on), ""), (.shift("off"), "tap"), (.led(.off), "")),
    Timeline(
      "found states never act",
      (.found("on", .off), ""), (.keyboard, ""), (.shift("off"), ""), (.shift("on"), "press"),
      (.found("on", .off), "release"), (.found("capsLock", .off), ""), (.keyboard, ""),
      (.found("capsLock", .on), ""), (.shift("off"), "")),
    Timeline(
      "without a daemon Shift is up, and what is ours is taken back",
      (.found("off", .off), ""), (.shift("on"), "press"), (.away, "release"),
      (.found("on", .off), ""), (.shift("capsLock"), "tap"), (.led(.on), ""), (.away, "tap"),
      (.at(2_000_000), ""), (.found("capsLock", .on), ""), (.shift("off"), "")),
    Timeline(
      "a daemon that is lost before the LED comes tells of it later",
      (.found("off", .off), ""), (.shift("capsLock"), "tap"), (.away, ""), (.at(5_000_000), ""),
      (.found("capsLock", .on), "tap"), (.led(.off), "")),
    Timeline(
      "a silent daemon is like none",
      (.found("off", .off), ""), (.shift("on"), "press"), (.silent, "release"),
      (.shift("capsLock"), "tap"), (.led(.on), ""), (.silent, "tap"), (.at(2_000_000), ""),
      (.led(.off), ""), (.shift("off"), ""), (.shift("on"), "press")),
    Timeline(
      "the end leaves all states, and nothing is entered after it",
      (.found("off", .off), ""), (.shift("capsLock"), "tap"), (.end, ""), (.led(.on), "tap"),
      (.led(.off), ""), (.shift("on"), ""), (.shift("capsLock"), "")),
    Timeline(
      "a locked session has Shift up, and keeps its Caps Lock until it is in front again",
      (.found("off", .off), ""), (.shift("on"), "press"), (.locked, "release"),
      (.found("off", .off), ""), (.shift("capsLock"), "tap"), (.led(.on), ""), (.locked, ""),
      (.at(50_000_000), ""), (.found("capsLock", .on), ""), (.at(50_999_999), ""),
      (.at(51_000_000), "tap"), (.led(.off), "")),
    Timeline(
      "each session has a Caps Lock of its own",
      (.found("off", .off), ""), (.shift("capsLock"), "tap"), (.led(.on), ""), (.locked, ""),
      (.found("capsLock", .off, in: "b"), ""), (.shift("off"), ""), (.shift("capsLock"), "tap"),
      (.led(.on), ""), (.shift("off"), "tap"), (.led(.off), ""), (.locked, ""),
      // The LED is that of the other session at first.
      (.found("off", .off), ""), (.at(500_000), ""), (.led(.on), ""), (.at(1_499_999), ""),
      (.at(1_500_000), "tap")),
    Timeline(
      "a session that forgot its Caps Lock while it was away gets no tap",
      (.found("off", .off), ""), (.shift("capsLock"), "tap"), (.led(.on), ""), (.locked, ""),
      (.found("off", .on), ""), (.led(.off), ""), (.at(1_000_000), ""), (.led(.on), ""),
      (.shift("off"), "")),
    Timeline(
      "Xorg keeps Caps Lock behind another console, with a dark LED, and a tap takes it back",
      (.found("off", .off), ""), (.shift("capsLock"), "tap"), (.led(.on), ""), (.behind, ""),
      (.found("capsLock", .off, isOnXorg: true), ""), (.at(999_999), ""), (.at(1_000_000), "tap"),
      (.at(3_000_000), ""), (.shift("off"), ""), (.shift("capsLock"), "tap"), (.led(.on), "")),
    Timeline(
      "the next process takes it back too", ours: ["a"],
      (.found("capsLock", .off, isOnXorg: true), ""), (.at(1_000_000), "tap"), (.at(3_000_000), ""),
      (.shift("off"), ""), (.shift("capsLock"), "tap"), (.at(5_000_000), "give up")),
    Timeline(
      "a person's Caps Lock with a dark LED is off after a tap, and another one turns it on",
      (.found("off", .on, isOnXorg: true), ""), (.behind, ""),
      (.found("off", .off, isOnXorg: true), ""), (.at(1_000_000), ""), (.shift("capsLock"), "tap"),
      (.at(3_000_000), "tap"), (.led(.on), ""), (.shift("off"), "tap"), (.led(.off), "")),
    Timeline(
      "a tap for a dark LED of Xorg is taken back if the LED goes on",
      (.found("off", .off), ""), (.shift("capsLock"), "tap"), (.led(.on), ""), (.behind, ""),
      (.found("capsLock", .off, isOnXorg: true), ""), (.at(1_000_000), "tap"), (.away, ""),
      (.at(9_000_000), ""), (.found("capsLock", .on, isOnXorg: true), "tap"), (.led(.off), "")),
    Timeline(
      "without another console, an LED that is off on Xorg is right",
      (.found("off", .off, isOnXorg: true), ""), (.shift("capsLock"), "tap"), (.led(.on), ""),
      (.locked, ""), (.found("off", .off, isOnXorg: true), ""), (.at(9_000_000), "")),
    Timeline(
      "what the process before remembered is taken back", ours: ["a", "b"],
      (.found("capsLock", .on), ""), (.at(1_000_000), "tap"), (.led(.off), ""), (.locked, ""),
      (.found("off", .on, in: "b"), ""), (.shift("capsLock"), ""), (.at(2_000_000), ""),
      (.shift("off"), "tap")),
  ]

  @Test("what happens makes the virtual keyboard do this", arguments: timelines)
  private func acts(_ timeline: Timeline) {
    var driver = Driver(
      ShiftTyping(hasCapsLock: true, oneShot: .seconds(3), ours: timeline.ours))
    for (index, (step, actions)) in timeline.steps.enumerated() {
      #expect(driver.handle(step).text == actions, "step \(index): \(step)")
    }
  }

  @Test("only what was asked for is typed", arguments: [true, false])
  func choice(_ hasCapsLock: Bool) {
    var driver = Driver(
      ShiftTyping(hasCapsLock: hasCapsLock, oneShot: hasCapsLock ? nil : .seconds(1)))
    let steps: [Step] = [
      .found("off", .off), .shift("on"), .shift("capsLock"), .led(.on), .shift("off"),
    ]
    let actions = steps.flatMap { driver.handle($0) }.text
    #expect(actions == (hasCapsLock ? "tap, tap" : "press, release"))
  }

  @Test("what is remembered, and until when there is something to do")
  func memory() {
    var driver = Driver(ShiftTyping(hasCapsLock: true, oneShot: .seconds(3), ours: ["b"]))
    func check(_ ours: Set<String>, _ isActive: Bool, _ deadline: Int64?) {
      #expect(driver.typing.ours == ours)
      #expect(driver.typing.isActive == isActive)
      #expect(driver.typing.deadline == deadline)
    }
    check(["b"], false, nil)
    _ = driver.handle(.found("off", .off))
    _ = driver.handle(.shift("on"))
    check(["b"], true, 3_000_000)
    _ = driver.handle(.shift("capsLock"))
    check(["a", "b"], true, 2_000_000)
    _ = driver.handle(.led(.on))
    check(["a", "b"], true, nil)
    _ = driver.handle(.locked)
    check(["a", "b"], false, nil)
    _ = driver.handle(.found("off", .off, in: "b"))
    check(["a", "b"], true, 1_000_000)
    _ = driver.handle(.at(1_000_000))
    check(["a"], false, nil)
  }

  // MARK: - Random walks

  /// Sessions with a Caps Lock each, a person, and a virtual keyboard whose taps they feel.
  private struct World {
    var driver: Driver
    let hasKey: Bool
    let isOnXorg: Bool
    /// On Xorg, whether the LED has been dark since another console was in front.
    var isDark: [String: Bool] = [:]
    /// Whether Caps Lock is on, and whether by the virtual keyboard.
    var isOn: [String: Bool] = ["a": false, "b": false]
    var isByTap: [String: Bool] = [:]
    var session = "a"
    var isConnected = true
    /// When the LED changed that the daemon has not told of.
    var untold: Int64?
    var pressed: Int64?
    var taps: [String: Int] = [:]
    /// When the session came to the front.
    var found: Int64 = 0

    init(hasKey: Bool, isOnXorg: Bool) {
      (self.hasKey, self.isOnXorg) = (hasKey, isOnXorg)
      driver = Driver(ShiftTyping(hasCapsLock: true, oneShot: .seconds(3)))
    }

    var led: LockRules.State { isOn[session] == true && isDark[session] != true ? .on : .off }

    mutating func handle(_ step: Step) {
      var isFound = false
      if case .found = step { isFound = true }
      for action in driver.handle(step) {
        switch action {
        case .press:
          #expect(!isFound && pressed == nil)
          pressed = driver.now
        case .release:
          #expect(pressed != nil)
          pressed = nil
        case .tapCapsLock:
          taps[session, default: 0] += 1
          guard hasKey else { break }
          // It never turns off what the person turned on, and a found state turns nothing on.
          if isOn[session] == true, isDark[session] != true {
            #expect(isByTap[session] == true)
          } else {
            #expect(!isFound)
          }
          toggle(byTap: true)
          untold = driver.now
        case .giveUpCapsLock: #expect(!hasKey)
        }
      }
    }

    mutating func toggle(byTap: Bool) {
      isOn[session]?.toggle()
      isByTap[session] = byTap
      isDark[session] = false
    }

    mutating func tellLED() {
      guard untold != nil, isConnected else { return }
      untold = nil
      if driver.states.locks[.caps] != led { handle(.led(led)) }
    }

    /// Lets time pass; the daemon tells of the LED within 1.5 s.
    mutating func pass(_ time: Int64) {
      let end = driver.now + time
      while true {
        let told = isConnected ? untold.map { $0 + 1_500_000 } : nil
        guard let next = [driver.typing.deadline, told].compactMap({ $0 }).min(), next <= end
        else { break }
        let isLED = next == told
        handle(.at(max(next, driver.now)))
        if isLED { tellLED() }
      }
      handle(.at(end))
      if let pressed { #expect(driver.now - pressed < 3_000_000) }
    }

    mutating func find(in session: String) {
      (self.session, isConnected, untold, found) = (session, true, nil, driver.now)
      handle(.found(driver.states.shift, led, in: session, isOnXorg: isOnXorg))
    }

    /// Another console comes to the front, and then a session.
    mutating func leave(for session: String) {
      handle(.behind)
      isDark[self.session] = isOnXorg
      isDark[session] = isOnXorg
      find(in: session)
    }
  }

  @Test(
    "on random walks Shift is never down for three seconds, and Caps Lock never stays on by a tap",
    arguments: 1...40)
  func walks(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var world = World(hasKey: !seed.isMultiple(of: 4), isOnXorg: seed % 4 == 1)
    world.find(in: "a")
    for _ in 0..<500 {
      switch Int.random(in: 0..<12, using: &random) {
      case 0...3:
        guard world.isConnected else { break }
        let state = ["off", "on", "capsLock"].randomElement(using: &random) ?? "off"
        if state != world.driver.states.shift { world.handle(.shift(state)) }
      case 4: world.tellLED()
      case 5:
        // The person's own key, whose LED is told at once. While a session settles, and on Xorg until
        // the LED has answered, what the person does cannot be told apart.
        guard world.isConnected, world.untold == nil, world.hasKey,
          world.driver.now - world.found > (world.isOnXorg ? 3_000_000 : 1_000_000)
        else { break }
        world.toggle(byTap: false)
        world.handle(.led(world.led))
      case 6...8: world.pass(.random(in: 0...1_200_000, using: &random))
      case 9:
        world.isConnected = false
        world.handle(.away)
      case 10:
        world.leave(for: Bool.random(using: &random) ? "a" : "b")
      default:
        // The process is killed, or the daemon found silent or back.
        if Bool.random(using: &random) {
          world.driver.typing = ShiftTyping(
            hasCapsLock: true, oneShot: .seconds(3), ours: world.driver.typing.ours)
          // The kernel releases its keys. The next process takes LEDs as they are, without those of ours.
          (world.pressed, world.taps, world.isDark) = (nil, [:], [:])
        } else if world.isConnected {
          world.handle(.silent)
        }
        world.find(in: world.session)
      }
      if !world.hasKey { #expect(world.taps.values.allSatisfy { $0 == 1 }) }
    }
    // Each session comes to the front once more, and the states are left.
    for session in ["a", "b", "a"] {
      world.leave(for: session)
      world.pass(15_000_000)
      #expect(!(world.isOn[session] == true && world.isByTap[session] == true))
      #expect(world.pressed == nil)
    }
    #expect(world.driver.typing.ours.isEmpty)
  }
}
