import Keyboards
import TestSupport
import Testing

@testable import KeyboardModes

/// Keys.txt has the rule and its edges.
@Suite("Controller: one key on several nodes of a keyboard")
struct TwinKeysTests {
  private let nodes = (0..<3).map { DeviceID(order: $0, parent: 0) }

  private func at(_ milliseconds: Int64) -> Time { Time(microseconds: milliseconds * 1000) }

  /// A person presses keys. Each node of the keyboard hears of a key when it is polled, up to 10 ms
  /// later, and some keys are on one node only.
  @Test("polled nodes make the changes of one node that hears all first", arguments: 0..<100)
  func polled(_ seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    let settings = try Settings(
      text: ["", "trigger tap", "used_by any", "trigger always"][Int(seed % 4)]
        + ", F9 press, F9 release, F10 tap, F10 hold 150, LEFTCTRL+A press")
    let keys = try ["LEFTSHIFT", "LEFTCTRL", "A", "F5", "F9", "F10", "LEFT"].map(key)
    var (heard, alone): ([(DeviceID, KeyEvent)], [KeyEvent]) = ([], [])
    var free = [Int64](repeating: 0, count: keys.count)
    var now: Int64 = 0
    for _ in 0..<300 {
      let place = Int.random(in: 0..<keys.count, using: &generator)
      now = max(now, free[place]) + .random(in: 12_000...300_000, using: &generator)
      let release = now + .random(in: 30_000...250_000, using: &generator)
      free[place] = release + 25_000
      let used = place == 0 ? nodes[...] : nodes[...Int.random(in: 0...2, using: &generator)]
      let delays = used.map { _ in
        (0..<2).map { _ in Int64.random(in: 0...10_000, using: &generator) }
      }
      // No press is less than 0.5 ms behind a release, as if a remapper had lifted Shift for it.
      func event(_ time: Int64, _ action: KeyEvent.Action) -> KeyEvent {
        let time = time / 1000 * 1000 + (action == .release ? 500 : 0)
        return KeyEvent(time: Time(microseconds: time), key: keys[place], action: action)
      }
      for (node, delay) in zip(used, delays) {
        heard.append((node, event(now + delay[0], .press)))
        heard.append((node, event(release + delay[1], .release)))
      }
      alone.append(event(now + (delays.map { $0[0] }.min() ?? 0), .press))
      alone.append(event(release + (delays.map { $0[1] }.max() ?? 0), .release))
    }
    var (first, other) = (Controller(settings: settings), Controller(settings: settings))
    let changes = heard.sorted { ($0.1.time, $0.0) < ($1.1.time, $1.0) }
      .flatMap { first.handle(.key($0.0, $0.1)) }
    let expected = alone.sorted { $0.time < $1.time }.flatMap { other.handle(.key(nodes[0], $0)) }
    #expect(changes == expected)
    #expect(changes.count > 20)
  }

  @Test("the inputs that count are those of the first node, and make the same changes")
  func counted() throws {
    var timeline = Timeline(try Settings(text: "F9 press, F9 release, F10 tap"))
    try timeline.play(
      """
      1k:F9+ 5 2k:F9+ 50 1k:F9- 5 2k:F9- 50 2k:F10+ 5 1k:F10+ 40 1k:F10- 5 2k:sync[F10-] \
      100 1k:F9+ 5 2k:F9+ 50 1k:F9- 50 2k:gone[] 100 1k:A+ 100 1k:A*
      """)
    var twins = TwinKeys()
    let counted = timeline.inputs.flatMap { twins.handle($0) }
    var controller = Controller(settings: timeline.controller.settings)
    // None of them are nodes of one keyboard any more.
    let changes = counted.flatMap { input in
      switch input {
      case .key(let device, let event):
        controller.handle(.key(DeviceID(order: device.order), event))
      default: controller.handle(input)
      }
    }
    #expect(changes == timeline.changes)
    #expect(changes.map(\.event) == ["press", "release", "press", "release"])
    let keys = counted.compactMap { input -> Int? in
      if case .key(let device, _) = input { device.order } else { nil }
    }
    #expect(keys == [0, 0, 1, 0, 0, 0, 0])
  }

  @Test("a release that a grab hides is asked for on every node that holds the key")
  func grabbed() throws {
    var timeline = Timeline(try Settings(text: "F9 press, F9 release"))
    try timeline.play("1k:F9+ 5 2k:F9+ 5 3k:F9+ 50 3k:F9-")
    var asked: [[Int]] = []
    for (time, up) in [(300, [0]), (600, []), (900, [1])] as [(Int64, [Int])] {
      timeline.handle(Batch(reached: at(time), noInputBefore: at(time))) { keys, device in
        asked.append([Int(time), device.order, keys.count])
        return up.contains(device.order) ? keys : []
      }
    }
    #expect(asked == [[300, 0, 1], [300, 1, 1], [600, 1, 1], [900, 1, 1]])
    #expect(timeline.changes.map(\.event) == ["press", "release"])
    #expect(timeline.changes.last?.time == at(900))
  }

  @Test("before a press that depends on a modifier, each node that holds it is asked")
  func modifier() throws {
    var timeline = Timeline()
    try timeline.play("1k:LEFTSHIFT 600 1k:LEFTCTRL+ 5 2k:LEFTCTRL+ 5 LEFTALT+ 100")
    let letter = KeyEvent(time: timeline.time, key: try key("A"), action: .press)
    let ctrl = try key("LEFTCTRL")
    var asked: [Int] = []
    let press = Controller.Input.key(DeviceID(order: 2), letter)
    timeline.handle(Batch([press], reached: at(800), noInputBefore: at(800))) { keys, device in
      asked.append(device.order)
      return keys
    }
    #expect(asked == [0, 1], "the first node also of left Alt")
    #expect(timeline.changes.map(\.to) == ["on", "off"], "no modifier is held")
    // One that is queued behind the press takes effect in its turn.
    try timeline.play("1k:LEFTCTRL+ 5 2k:LEFTCTRL+ 5")
    let later = KeyEvent(time: timeline.time, key: ctrl, action: .release)
    let missed = timeline.controller.missedReleases(
      before: press, among: [press, .key(nodes[1], later)]
    ) { keys, _ in keys }
    #expect(missed == [.missedRelease(nodes[0], ctrl, at: letter.time)])
  }
}
