import KeyboardModes
import Keyboards
import TestSupport
import Testing

private let devices = (0..<3).map { DeviceID(order: $0) }

/// Keys that are tapped, pressed, repeated and released on two devices, with losses in between.
func randomInputs(
  _ count: Int, _ generator: inout SplitMix64
) throws -> [Controller.Input] {
  // The keys that mean something, and some that do not.
  let keys = try [
    "A", "V", "1", "KP5", "SPACE", "ENTER", "UP", "END", "HOME", "F5", "RIGHTALT", "LEFTCTRL",
    "RIGHTCTRL", "LEFTALT", "LEFTSHIFT", "RIGHTSHIFT", "LEFTMETA", "ESC", "INSERT", "SCROLLLOCK",
    "COMPOSE", "BTN_LEFT", "BTN_EXTRA", "BTN_TOUCH", "BTN_SOUTH",
  ].map(key)
  var time = Time(microseconds: 0)
  var inputs: [Controller.Input] = []
  while inputs.count < count {
    let device = DeviceID(order: .random(in: 0..<2, using: &generator))
    let some = keys.shuffled(using: &generator).prefix(.random(in: 1..<4, using: &generator))
    func add(_ key: KeyCode, _ actions: [KeyEvent.Action], within longest: Int64 = 150_000) {
      for action in actions {
        time = Time(microseconds: time.microseconds + .random(in: 0...longest, using: &generator))
        inputs.append(.key(device, KeyEvent(time: time, key: key, action: action)))
      }
    }
    switch Int.random(in: 0..<100, using: &generator) {
    case 0: inputs.append(.opened(device, held: Array(some)))
    case 1..<10: inputs.append(.gone(device, at: time))
    case 10..<15:
      let found = some.map { KeyDifference(key: $0, isDown: .random(using: &generator)) }
      inputs.append(.synchronized(device, found, at: time))
    case 15..<30: for key in some { add(key, [.press]) }
    case 30..<45: for key in keys { add(key, [.release]) }
    case 45..<55: for key in some { add(key, [.autorepeat]) }
    case 55..<65:
      let bounces: [KeyEvent.Action] = [.press, .release, .press, .release, .press, .release]
      for key in some { add(key, bounces, within: 25_000) }
    case 65..<75:
      let leds = (0..<2).map { _ in LEDs(rawValue: .random(in: 1...3, using: &generator)) }
      let report = LEDReport(leds[0], on: leds[0].intersection(leds[1]))
      inputs.append(.leds(device, report, at: time))
    default: for key in some { add(key, [.press, .release]) }
    }
  }
  return inputs
}

/// What holds for every log of keys.
@Suite("Controller: properties of random logs")
struct KeyLogPropertyTests {
  @Test("a Shift that is only used in shortcuts leaves its machine as it was", arguments: 0..<300)
  func shortcuts(_ seed: Int) throws {
    var generator = SplitMix64(seed: UInt64(seed))
    let starts = [
      "", "LEFTSHIFT 900", "LEFTSHIFT 100 RIGHTSHIFT 900",
      "LEFTSHIFT 100 LEFTSHIFT 100 2:LEFTSHIFT 9",
    ]
    var timeline = Timeline()
    try timeline.play(starts[seed % starts.count])
    let before = timeline.controller.snapshot
    let modifiers = ["LEFTCTRL", "RIGHTCTRL", "LEFTALT", "LEFTMETA", "RIGHTMETA"]
    let others = ["TAB", "LEFT", "HOME", "F5", "ENTER", "2:BTN_LEFT", "3:F9", "DELETE"]
    func pick(_ names: [String]) -> String { names.randomElement(using: &generator) ?? "F5" }
    for _ in 0..<60 {
      var steps: [String] = []
      var held: [String] = []
      func hold(_ key: String) {
        held.append(key)
        steps.append("\(key)+")
      }
      let shift = pick(["LEFTSHIFT", "RIGHTSHIFT", "2:LEFTSHIFT"])
      if Bool.random(using: &generator) {
        // Another key of the shortcut goes down before Shift.
        hold(pick(modifiers + ["LEFT", "2:BTN_LEFT"]))
        hold(shift)
        if Bool.random(using: &generator) { steps.append(pick(others)) }
      } else {
        hold(shift)
        if Bool.random(using: &generator) { hold(pick(["RIGHTALT", "3:RIGHTSHIFT"])) }
        hold(pick(modifiers + others))
      }
      if held.contains(where: modifiers.contains) { steps.append(pick(["V", "A", "1", "F5"])) }
      steps += held.shuffled(using: &generator).map { "\($0)-" }
      for step in steps {
        try timeline.play("\(Int.random(in: 0...300_000, using: &generator))us \(step)")
      }
      #expect(timeline.controller.snapshot.shift == before.shift, "\(steps)")
    }
    #expect(timeline.controller.states.shift == before.states.shift)
  }

  /// A log of bound presses with everything that may lose a release. The state of the machine tells
  /// whether the last event was a press: each event changes it, so none goes unseen.
  @Test(
    "every press bound with a release has exactly one release, whatever gets lost",
    arguments: 0..<300)
  func releases(_ seed: Int) throws {
    var generator = SplitMix64(seed: UInt64(seed))
    let f9 = try key("F9")
    let debounce = seed % 3 == 0 ? 5 : 0
    let bound = try Settings(text: "debounce \(debounce), F9 press, F9 release")
    let unbound = try Settings(text: "debounce \(debounce), F10 press")
    var settings = bound
    var controller = Controller(settings: settings)
    var changes: [Change] = []
    var time: Int64 = 0
    // The truth: one keyboard has the key, and a grab may hide what happens to it.
    var (isDown, isGrabbed, isPresent) = (false, false, true)
    var device = 0
    for _ in 0..<400 {
      time += Int64.random(in: 10_000...400_000, using: &generator)
      let now = Time(microseconds: time)
      var inputs: [Controller.Input] = []
      switch Int.random(in: 0..<12, using: &generator) {
      case 0...5 where isPresent:
        isDown.toggle()
        let event = KeyEvent(time: now, key: f9, action: isDown ? .press : .release)
        if !isGrabbed { inputs = [.key(DeviceID(order: device), event)] }
      case 6: isGrabbed.toggle()
      case 7 where isPresent:
        let found = KeyDifference(key: f9, isDown: isDown)
        let isKnown = (controller.nextCheck != nil) == isDown
        inputs = [.synchronized(DeviceID(order: device), isKnown ? [] : [found], at: now)]
      case 8 where isPresent:
        inputs = [.gone(DeviceID(order: device), at: now)]
        (isPresent, isDown) = (false, false)
      case 9 where !isPresent:
        device += 1
        inputs = [.opened(DeviceID(order: device), held: [])]
        isPresent = true
      case 10:
        settings = settings == bound ? unbound : bound
        inputs = [.configured(settings, at: now)]
      case 11:
        // Killed, and started anew: what happened meanwhile was not seen.
        if Bool.random(using: &generator) { isDown = false }
        let snapshot = controller.snapshot
        controller = Controller(settings: settings)
        changes += controller.resume(snapshot, changedLast: nil, at: now)
        if isPresent {
          inputs = [.opened(DeviceID(order: device), held: isDown ? [f9] : [])]
        }
        inputs.append(.allOpened(at: now))
      default: break
      }
      changes += controller.handle(
        Batch(inputs, reached: now, noInputBefore: now), keysUp: { keys, _ in isDown ? [] : keys })
    }
    // The last release: the keyboard is unplugged.
    changes += controller.handle(.gone(DeviceID(order: device), at: Time(microseconds: time)))
    let events = changes.filter { $0.machine == .keyboard }.map(\.event)
    #expect(events.count > 2)
    #expect(events.count.isMultiple(of: 2))
    for (place, event) in events.enumerated() {
      #expect(event == (place.isMultiple(of: 2) ? "press" : "release"), "\(place)")
    }
    #expect(controller.snapshot.awaitedReleases == [] && controller.wakeTime == nil)
  }

  @Test("changes are numbered from 1 without gaps, whatever the inputs")
  func sequence() throws {
    var generator = SplitMix64(seed: 20_261_121)
    var controller = Controller()
    let changes = try randomInputs(20_000, &generator).flatMap { controller.handle($0) }
    #expect(changes.map(\.sequence) == Array(1...Int64(changes.count)))
    // Each change of a machine starts in the state that its previous change led to.
    for machine in MachineName.shipped {
      let own = changes.filter { $0.machine == machine }
      #expect(own.count > 100)
      #expect(zip(own, own.dropFirst()).allSatisfy { $0.to == $1.from })
      #expect(own.allSatisfy { $0.from != $0.to })
    }
  }

  @Test(
    "with used_by any, a press of another key leaves no Shift `on`", arguments: 0..<100)
  func usedByAny(_ seed: Int) throws {
    var generator = SplitMix64(seed: UInt64(seed))
    var controller = Controller(
      settings: try Settings(text: "used_by any, trigger tap, V tap tapTextField"))
    let nothing = try ["LEFTSHIFT", "RIGHTSHIFT", "RIGHTALT", "BTN_TOUCH", "BTN_SOUTH"].map(key)
    var used = 0
    for input in try randomInputs(1000, &generator) {
      guard case .key(_, let event) = input, event.action == .press else {
        controller.handle(input)
        continue
      }
      controller.end(at: event.time)  // Counts a tap that waits.
      while controller.states.shift != "on" {
        controller.handle(.client(.shiftPressed, at: event.time))
      }
      let before = controller.snapshot.shift
      controller.handle(input)
      if nothing.contains(event.key) {
        #expect(controller.snapshot.shift == before, "\(event)")
      } else {
        #expect(controller.states.shift != "on", "\(event)")
        if !event.key.isCharacter { used += 1 }
      }
    }
    #expect(used > 10)
  }

  @Test("keys in batches have the same effect as one by one", arguments: 0..<200)
  func batches(_ seed: Int) throws {
    var generator = SplitMix64(seed: UInt64(seed))
    var settings = try Settings(
      text: """
        timeout 700, F9 press, F9 release, F9 hold 100, A tap, LEFTSHIFT+A release, LEFTCTRL+F9 tap
        """)
    settings.shiftTrigger = [.press, .tap, .always][seed % 3]
    settings.shiftUsedBy = seed % 4 < 2 ? .characters : .any
    if seed % 2 == 1 { settings.debounce = .milliseconds(5) }
    let keys = try ["F9", "A", "S", "LEFTSHIFT", "RIGHTSHIFT", "LEFTCTRL", "LEFT", "BTN_LEFT"]
      .map { try key($0) }
    var (one, live) = (Controller(settings: settings), Controller(settings: settings))
    var (oneByOne, inBatches): ([Change], [Change]) = ([], [])
    var time: Int64 = 0
    for _ in 0..<200 {
      var inputs: [Controller.Input] = []
      for _ in 0..<Int.random(in: 1...5, using: &generator) {
        let key = keys[Int.random(in: 0..<8, using: &generator)]
        let device = devices[Int.random(in: 0..<3, using: &generator)]
        // Most presses have their release.
        let actions: [[KeyEvent.Action]] = [[.press, .release], [.press, .release], [.release]]
        let some =
          Int.random(in: 0..<20, using: &generator) == 0
          ? [.press] : actions[Int.random(in: 0..<3, using: &generator)]
        for action in some {
          time += Int64.random(in: 0...60_000, using: &generator)
          let event = KeyEvent(time: Time(microseconds: time), key: key, action: action)
          inputs.append(.key(device, event))
        }
      }
      for input in inputs { oneByOne += one.handle(input) }
      let now = Time(microseconds: time)
      inBatches += live.handle(
        Batch(inputs, reached: now, noInputBefore: now), keysUp: { _, _ in [] })
    }
    let end = Time(microseconds: .max)
    oneByOne += one.advance(to: end)
    inBatches += live.advance(to: end)
    #expect(oneByOne.count > 5)
    #expect(inBatches == oneByOne)
    #expect(live.snapshot == one.snapshot)
  }
}
