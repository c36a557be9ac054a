import KeyboardModes
import StateMachines
import TestSupport
import Testing

@Suite("The rules of Shift")
struct ShiftRulesTests {
  typealias State = ShiftRules.State
  typealias Event = ShiftRules.Event

  private static func at(_ microseconds: Int64) -> Time { Time(microseconds: microseconds) }

  /// Every state with every event, and every way in which time can decide. A press at `t` meets an
  /// `on` of `since`.
  static let matrix: [(State, Event, State?)] = [
    (.off, .shiftPressed(at: at(7)), .on(since: at(7))),
    (.off, .shiftPressed(at: nil), .on(since: nil)),
    (.off, .characterTyped, nil),
    (.on(since: at(0)), .characterTyped, .off),
    (.on(since: nil), .characterTyped, .off),
    (.capsLock, .shiftPressed(at: at(7)), .off),
    (.capsLock, .shiftPressed(at: nil), .off),
    (.capsLock, .characterTyped, nil),
    (.off, .timedOut, nil),
    (.on(since: at(0)), .timedOut, .off),
    (.on(since: nil), .timedOut, .off),
    (.capsLock, .timedOut, nil),

    // The threshold, to the microsecond.
    (.on(since: at(0)), .shiftPressed(at: at(0)), .capsLock),
    (.on(since: at(0)), .shiftPressed(at: at(499_999)), .capsLock),
    (.on(since: at(0)), .shiftPressed(at: at(500_000)), .off),
    (.on(since: at(0)), .shiftPressed(at: at(500_001)), .off),
    (.on(since: at(9_700_000)), .shiftPressed(at: at(10_199_999)), .capsLock),
    (.on(since: at(9_700_000)), .shiftPressed(at: at(10_200_000)), .off),

    // Stamps of two keyboards that crossed.
    (.on(since: at(499_999)), .shiftPressed(at: at(0)), .capsLock),
    (.on(since: at(500_000)), .shiftPressed(at: at(0)), .off),
    (.on(since: at(1)), .shiftPressed(at: at(0)), .capsLock),

    // A time that was lost, on either side.
    (.on(since: nil), .shiftPressed(at: at(1)), .off),
    (.on(since: at(0)), .shiftPressed(at: nil), .off),
    (.on(since: nil), .shiftPressed(at: nil), .off),

    // The ends of time.
    (.on(since: at(.min)), .shiftPressed(at: at(.max)), .off),
    (.on(since: at(.max)), .shiftPressed(at: at(.min)), .off),
    (.on(since: at(.max)), .shiftPressed(at: at(.max)), .capsLock),
  ]

  @Test("hold in every state for every event", arguments: matrix)
  func next(_ state: State, _ event: Event, _ expected: State?) {
    #expect(ShiftRules().next(state, on: event) == expected)
  }

  @Test("round a threshold up to what times can tell apart")
  func rounding() {
    #expect(ShiftRules(threshold: .nanoseconds(1)).threshold == .microseconds(1))
    #expect(
      ShiftRules(threshold: .nanoseconds(1_000_500_000)).threshold == .microseconds(1_000_500))
    #expect(ShiftRules(threshold: .nanoseconds(1_500)).threshold == .microseconds(2))
  }

  @Test("start in off")
  func initial() {
    #expect(ShiftRules().initial == .off)
  }

  @Test("use the threshold that they are given", arguments: [1, 200_000, 60_000_000] as [Int64])
  func threshold(_ microseconds: Int64) {
    let rules = ShiftRules(threshold: .microseconds(microseconds))
    let on = State.on(since: Self.at(0))
    #expect(rules.next(on, on: .shiftPressed(at: Self.at(microseconds - 1))) == .capsLock)
    #expect(rules.next(on, on: .shiftPressed(at: Self.at(microseconds))) == .off)
  }

  @Test(
    "are drawn with the threshold that they have",
    arguments: [
      (500_000, "500 ms"), (1_000_000, "1 s"), (1_500_000, "1500 ms"), (499_999, "499999 µs"),
      (1, "1 µs"),
    ] as [(Int64, String)])
  func diagram(_ microseconds: Int64, _ text: String) {
    let diagram = Diagram(of: ShiftRules(threshold: .microseconds(microseconds)))
    #expect(
      diagram.arrows.map { "\($0.from) → \($0.to): \($0.label)" } == [
        "off → on: shiftPressed", "on → capsLock: shiftPressed [< \(text)]",
        "on → off: shiftPressed [≥ \(text)]", "on → off: characterTyped",
        "capsLock → off: shiftPressed",
      ])
  }

  @Test("are drawn with a timeout where they have one")
  func timeoutDiagram() {
    let rules = ShiftRules(timeout: .seconds(3))
    let arrows = Diagram(of: rules).arrows
    #expect(
      arrows.filter { $0.event == "timedOut" }.map { "\($0.from) → \($0.to): \($0.label)" }
        == ["on → off: timedOut"])
    #expect(arrows.count == Diagram(of: ShiftRules()).arrows.count + 1)
    #expect(rules.unreachableStates.isEmpty && rules.ambiguousArrows.isEmpty)
    #expect(ShiftRules(timeout: .nanoseconds(1500)).timeout == .microseconds(2))
  }

  @Test("take in a random run only steps that are drawn, each under its condition, and all of them")
  func randomRun() {
    let rules = ShiftRules()
    let arrows = Diagram(of: rules).arrows
    var machine = StateMachine(rules)
    var folded = rules.initial
    var generator = SplitMix64(seed: 5)
    var taken: Set<Int> = []
    var now: Int64 = 0
    for _ in 0..<5000 {
      now += Int64.random(in: 1...900_000, using: &generator)
      let event: Event =
        Int.random(in: 0..<4, using: &generator) == 0
        ? .characterTyped : .shiftPressed(at: Self.at(now))
      var condition: String?
      if case (.on(let since?), .shiftPressed) = (machine.state, event) {
        condition = now - since.microseconds < 500_000 ? "< 500 ms" : "≥ 500 ms"
      }
      folded = rules.next(folded, on: event) ?? folded
      let step = machine.take(event)
      #expect(machine.state == folded)
      guard let step else { continue }
      let place = arrows.firstIndex { arrow in
        arrow.from == step.from.name && arrow.to == step.to.name && arrow.event == event.name
          && arrow.condition == condition
      }
      taken.insert(place ?? -1)
    }
    #expect(taken == Set(arrows.indices))
  }

  @Test("have the names that programs are told")
  func names() {
    #expect(ShiftRules().stateNames == ["off", "on", "capsLock"])
    #expect([State.off, .on(since: nil), .capsLock].map(\.name) == ["off", "on", "capsLock"])
    #expect(
      [Event.shiftPressed(at: nil), .characterTyped, .timedOut].map(\.name)
        == ["shiftPressed", "characterTyped", "timedOut"])
  }
}
