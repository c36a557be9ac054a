import Foundation
import StateMachines
import SystemCalls
import Testing

@testable import Guardian

@Suite("Guardian: rules")
struct GuardianRulesTests {
  typealias State = GuardianRules.State
  typealias Event = GuardianRules.Event

  private static let rules = GuardianRules(grace: 3000)
  private static let asked = GuardianRules.Ending(status: nil, deadline: 3100)
  private static let half = GuardianRules.Ending(status: 9, deadline: 3100)
  private static let last = GuardianRules.Ending(status: nil, deadline: 3100, isLast: true)
  private static let lastHalf = GuardianRules.Ending(status: 9, deadline: 3100, isLast: true)

  /// Every state with every event; `nil` where the event is ignored.
  private static let table: [(State, [State?])] = [
    (.idle, [.running, nil, nil, nil, nil, .gone]),
    (.running, [nil, .ending(asked), .ending(half), nil, nil, .ending(last)]),
    (.ending(asked), [nil, nil, .ending(half), .killing(asked), .idle, .ending(last)]),
    (.ending(half), [nil, nil, .ending(half), .killing(half), .idle, .ending(lastHalf)]),
    (.ending(last), [nil, nil, .ending(lastHalf), .killing(last), .gone, .ending(last)]),
    (.killing(asked), [nil, nil, .killing(half), nil, .idle, .killing(last)]),
    (.killing(last), [nil, nil, .killing(lastHalf), nil, .gone, .killing(last)]),
    (.gone, [nil, nil, nil, nil, nil, nil]),
  ]

  private static let events: [Event] = [
    .started, .endOrdered(at: 100), .firstEnded(9, at: 100), .deadlineCame, .allEnded,
    .lost(at: 100),
  ]

  @Test("each state does with each event what the table says", arguments: table)
  func transitions(_ state: State, _ row: [State?]) {
    for (event, next) in zip(Self.events, row) {
      #expect(Self.rules.next(state, on: event) == next, "\(state), \(event)")
    }
  }

  @Test("a grace without an end has no deadline that overflows")
  func overflow() {
    let rules = GuardianRules(grace: .max)
    #expect(
      rules.next(.running, on: .endOrdered(at: 1))
        == .ending(GuardianRules.Ending(deadline: .max)))
  }

  @Test("the rules are sound, and every path ends where nothing is left")
  func soundness() {
    #expect(Self.rules.unknownStates == [])
    #expect(Self.rules.unreachableStates == [])
    #expect(Self.rules.deadStates == [])
    #expect(Self.rules.leftFinalStates == [])
    #expect(Self.rules.ambiguousArrows == [])
  }
}

@Suite("Guardian: packets and processes")
struct PacketTests {
  @Test(
    "an order is read as it was written",
    arguments: [.start([]), .start(["A=b c", "D="]), .end(15), .pass(64)] as [Order])
  func orders(_ order: Order) { #expect(Order(order.packet) == order) }

  @Test(
    "a report is read as it was written",
    arguments: [.started(4_194_304), .failed(2), .ended(0), .ended(0xff00), .ended(137)]
      as [Report])
  func reports(_ report: Report) { #expect(Report(report.packet) == report) }

  @Test("a value with a NUL begins no other variable")
  func nul() {
    #expect(Order(Order.start(["A=b\0LD_PRELOAD=x"]).packet) == .start(["A=b"]))
  }

  @Test("other packets are none", arguments: ["", "x", "e", "p", "ee\u{1}", "pab"])
  func otherOrders(_ packet: String) { #expect(Order(Array(packet.utf8)) == nil) }

  @Test("other reports are none", arguments: ["", "s", "sx", "e99999999999", "q1", "1"])
  func otherReports(_ packet: String) { #expect(Report(Array(packet.utf8)) == nil) }

  /// The fields of a process between its group and its start.
  private static let fields = (5...20).map(String.init).joined(separator: " ")

  // A combining character makes one `Character` of a parenthesis and itself.
  @Test(
    "a process is read whatever its name is",
    arguments: [
      "sh", "a) Z 1 1", "((", "x y", "\u{301}x", "\u{200d}", "\u{fe0f}", "x\u{600}",
    ])
  func stat(_ name: String) throws {
    let entry = try #require(
      ProcessEntry(stat: Array("12 (\(name)) S 3 4 \(Self.fields) 1250 1".utf8)))
    #expect((entry.number, entry.parent, entry.group, entry.isZombie) == (12, 3, 4, false))
    #expect(entry.startedBefore == 12_510_000)
  }

  @Test("a zombie is known")
  func zombie() {
    #expect(ProcessEntry(stat: Array("12 (a) Z 3 4 \(Self.fields) 9".utf8))?.isZombie == true)
  }

  @Test(
    "other lines are no process",
    arguments: [
      "", "12", "12 (a", ") (", "x (a) S 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21",
      "12 (a) S 3 4 5",
    ])
  func noStat(_ line: String) { #expect(ProcessEntry(stat: Array(line.utf8)) == nil) }

  @Test("descendants are found through all generations, and excluded ones with their own")
  func descendants() {
    let parents: [(Int32, Int32)] = [(9, 7), (5, 2), (2, 1), (3, 1), (7, 5), (4, 3), (6, 99)]
    let all = parents.compactMap { number, parent in
      ProcessEntry(stat: Array("\(number) (x) S \(parent) 1 \(Self.fields) 9".utf8))
    }
    #expect(Set(all.descendants(of: 1).map(\.number)) == [2, 3, 4, 5, 7, 9])
    #expect(Set(all.descendants(of: 1, excluding: [5]).map(\.number)) == [2, 3, 4])
    #expect(all.descendants(of: 9) == [])
  }

  @Test("a new process is among all processes, and has started now")
  func new() throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sleep")
    process.arguments = ["1000"]
    let before = microsecondsSinceBoot()
    try process.run()
    defer { kill(process.processIdentifier, SIGKILL) }
    let after = microsecondsSinceBoot()
    let entry = try #require(
      ProcessEntry.all().first { $0.number == process.processIdentifier })
    #expect(!entry.isZombie)
    #expect((before...after + 10_000).contains(entry.startedBefore))
  }
}
