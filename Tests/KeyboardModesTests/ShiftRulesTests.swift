import KeyboardModes
import StateMachines
import Testing

@Suite("Shift rules")
struct ShiftRulesTests {
  typealias State = ShiftRules.State
  typealias Event = ShiftRules.Event

  private static func at(_ microseconds: Int64) -> Time { Time(microseconds: microseconds) }

  /// Every state with every event, and every case that the times decide.
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

    // Back to any state, unless it is the present one.
    (.off, .shiftUsed(returningTo: .off), nil),
    (.off, .shiftUsed(returningTo: .on(since: at(7))), .on(since: at(7))),
    (.off, .shiftUsed(returningTo: .capsLock), .capsLock),
    (.on(since: at(7)), .shiftUsed(returningTo: .off), .off),
    (.on(since: at(7)), .shiftUsed(returningTo: .on(since: at(7))), nil),
    (.on(since: at(7)), .shiftUsed(returningTo: .on(since: at(6))), .on(since: at(6))),
    (.on(since: at(7)), .shiftUsed(returningTo: .on(since: nil)), .on(since: nil)),
    (.on(since: nil), .shiftUsed(returningTo: .on(since: nil)), nil),
    (.on(since: nil), .shiftUsed(returningTo: .capsLock), .capsLock),
    (.capsLock, .shiftUsed(returningTo: .off), .off),
    (.capsLock, .shiftUsed(returningTo: .on(since: at(7))), .on(since: at(7))),
    (.capsLock, .shiftUsed(returningTo: .capsLock), nil),

    // The threshold, to the microsecond.
    (.on(since: at(0)), .shiftPressed(at: at(0)), .capsLock),
    (.on(since: at(0)), .shiftPressed(at: at(499_999)), .capsLock),
    (.on(since: at(0)), .shiftPressed(at: at(500_000)), .off),
    (.on(since: at(0)), .shiftPressed(at: at(500_001)), .off),
    (.on(since: at(9_700_000)), .shiftPressed(at: at(10_199_999)), .capsLock),
    (.on(since: at(9_700_000)), .shiftPressed(at: at(10_200_000)), .off),

    // Crossed timestamps of two keyboards.
    (.on(since: at(499_999)), .shiftPressed(at: at(0)), .capsLock),
    (.on(since: at(500_000)), .shiftPressed(at: at(0)), .off),
    (.on(since: at(1)), .shiftPressed(at: at(0)), .capsLock),

    // An unknown time on either side.
    (.on(since: nil), .shiftPressed(at: at(1)), .off),
    (.on(since: at(0)), .shiftPressed(at: nil), .off),
    (.on(since: nil), .shiftPressed(at: nil), .off),

    // The least and greatest times.
    (.on(since: at(.min)), .shiftPressed(at: at(.max)), .off),
    (.on(since: at(.max)), .shiftPressed(at: at(.min)), .off),
    (.on(since: at(.max)), .shiftPressed(at: at(.max)), .capsLock),
  ]

  @Test("every event leads to the expected state", arguments: matrix)
  func next(_ state: State, _ event: Event, _ expected: State?) {
    #expect(ShiftRules().next(state, on: event) == expected)
  }

  @Test("a threshold is rounded up to whole microseconds")
  func rounding() {
    #expect(ShiftRules(threshold: .nanoseconds(1)).threshold == .microseconds(1))
    #expect(
      ShiftRules(threshold: .nanoseconds(1_000_500_000)).threshold == .microseconds(1_000_500))
    #expect(ShiftRules(threshold: .nanoseconds(1_500)).threshold == .microseconds(2))
  }

  @Test(
    "the given threshold separates capsLock from off",
    arguments: [1, 200_000, 60_000_000] as [Int64])
  func threshold(_ microseconds: Int64) {
    let rules = ShiftRules(threshold: .microseconds(microseconds))
    let on = State.on(since: Self.at(0))
    #expect(rules.next(on, on: .shiftPressed(at: Self.at(microseconds - 1))) == .capsLock)
    #expect(rules.next(on, on: .shiftPressed(at: Self.at(microseconds))) == .off)
  }

  @Test(
    "the diagram shows the threshold",
    arguments: [
      (500_000, "500 ms"), (1_000_000, "1 s"), (1_500_000, "1500 ms"), (499_999, "499999 µs"),
      (1, "1 µs"),
    ] as [(Int64, String)])
  func diagram(_ microseconds: Int64, _ text: String) {
    let diagram = Diagram(of: ShiftRules(threshold: .microseconds(microseconds)))
    #expect(
      diagram.arrows.map { "\($0.from) → \($0.to): \($0.label)" } == [
        "off → on: shiftPressed", "off → on: shiftUsed [was on]",
        "off → capsLock: shiftUsed [was capsLock]", "on → capsLock: shiftPressed [< \(text)]",
        "on → off: shiftPressed [≥ \(text)]", "on → off: characterTyped",
        "on → off: shiftUsed [was off]", "on → capsLock: shiftUsed [was capsLock]",
        "capsLock → off: shiftPressed", "capsLock → off: shiftUsed [was off]",
        "capsLock → on: shiftUsed [was on]",
      ])
  }

  @Test("the diagram shows the timeout if there is one")
  func timeoutDiagram() {
    let rules = ShiftRules(timeout: .seconds(3))
    let arrows = Diagram(of: rules).arrows
    #expect(
      arrows.filter { $0.event == "timedOut" }.map { "\($0.from) → \($0.to): \($0.label)" }
        == ["on → off: timedOut"])
    #expect(arrows.count == Diagram(of: ShiftRules()).arrows.count + 1)
    #expect(ShiftRules(timeout: .nanoseconds(1500)).timeout == .microseconds(2))
  }

  @Test("states and events have the names that clients see")
  func names() {
    #expect(ShiftRules().stateNames == ["off", "on", "capsLock"])
    #expect([State.off, .on(since: nil), .capsLock].map(\.name) == ["off", "on", "capsLock"])
    #expect(
      [Event.shiftPressed(at: nil), .characterTyped, .timedOut, .shiftUsed(returningTo: .off)].map(
        \.name)
        == ["shiftPressed", "characterTyped", "timedOut", "shiftUsed"])
  }
}
