import StateMachines
import Testing

@testable import Acting

@Suite("Acting: rules of Caps Lock")
struct CapsLockRulesTests {
  typealias State = CapsLockRules.State

  private static let now: Int64 = 100_000_000

  /// The states, by a letter, and `+` where Caps Lock is wanted: a small letter until 7, a capital for
  /// one that has just been entered, by a tap (`W`, `F`) or after the LED has not come (`L`); `v` waits
  /// longer, and `u` has had no answer. `m` waits for an LED that is known, and `t` a second longer.
  private static let states: [String: State] = [
    "n": .notOurs,
    "w+": .awaitsOn(isWanted: true, until: 7), "w-": .awaitsOn(isWanted: false, until: 7),
    "W+": .awaitsOn(isWanted: true, until: now + 2_000_000),
    "v+": .awaitsOn(isWanted: true, until: now + 2_000_000),
    "v-": .awaitsOn(isWanted: false, until: now + 2_000_000),
    "m+": .awaitsOn(isWanted: true, until: .max), "m-": .awaitsOn(isWanted: false, until: .max),
    "l+": .late(isWanted: true, until: 7), "l-": .late(isWanted: false, until: 7),
    "L+": .late(isWanted: true, until: 8_000_007), "L-": .late(isWanted: false, until: 8_000_007),
    "o+": .ours(isWanted: true), "o-": .ours(isWanted: false),
    "f+": .awaitsOff(isWanted: true, until: 7), "f-": .awaitsOff(isWanted: false, until: 7),
    "F-": .awaitsOff(isWanted: false, until: now + 2_000_000),
    "s+": .settling(isWanted: true, isAnswered: true, until: 7),
    "s-": .settling(isWanted: false, isAnswered: true, until: 7),
    "u+": .settling(isWanted: true, isAnswered: false, until: 7),
    "u-": .settling(isWanted: false, isAnswered: false, until: 7),
    "sm": .settling(isWanted: true, isAnswered: true, until: .max),
    "Sm": .settling(isWanted: false, isAnswered: true, until: .max),
    "um": .settling(isWanted: true, isAnswered: false, until: .max),
    "Um": .settling(isWanted: false, isAnswered: false, until: .max),
    "st": .settling(isWanted: true, isAnswered: true, until: now + 1_000_000),
    "St": .settling(isWanted: false, isAnswered: true, until: now + 1_000_000),
    "ut": .settling(isWanted: true, isAnswered: false, until: now + 1_000_000),
    "Ut": .settling(isWanted: false, isAnswered: false, until: now + 1_000_000),
    // It gives up.
    "x": .notOurs,
  ]

  private static let events: [CapsLockRules.Event] =
    CapsLockRules.LED.allCases.map {
      .entered($0, at: now)
    } + CapsLockRules.LED.allCases.map { .left($0, at: now) }
    + CapsLockRules.LED.allCases.map { .told($0, at: now) }
    + CapsLockRules.LED.allCases.map { .due($0, at: now) }

  /// Every state with every event: entered, left, told and due, each with the LED unknown, off and
  /// on; `.` where the event is ignored.
  private static let table = [
    "n   .  W+ .   .  .  .   .  .  .   .  .  . ",
    "w+  w+ w+ w+  w- w- w-  .  v+ o+  m+ L+ o+",
    "w-  w+ w+ w+  w- w- w-  .  v- F-  m- L- F-",
    "l+  l+ l+ l+  l- l- l-  .  .  o+  n  n  o+",
    "l-  l+ l+ l+  l- l- l-  .  .  F-  n  n  F-",
    "o+  o+ o+ o+  o- n  F-  .  n  .   .  .  . ",
    "o-  o+ o+ o+  o- n  F-  o- n  F-  .  .  . ",
    "f+  f+ f+ f+  f- f- f-  .  W+ .   n  n  x ",
    "f-  f+ f+ f+  f- f- f-  .  n  .   n  n  x ",
    "s+  s+ s+ s+  s- s- s-  sm st st  sm W+ o+",
    "s-  s+ s+ s+  s- s- s-  Sm St St  Sm n  F-",
    "u+  u+ u+ u+  u- u- u-  um ut ut  um x  o+",
    "u-  u+ u+ u+  u- u- u-  Um Ut Ut  Um x  F-",
  ]

  /// The same where Caps Lock did not answer before.
  private static let tableAfterGivingUp = table.map { row in
    row.split(separator: " ").map { $0 == "W+" ? (row.hasPrefix("n") ? "." : "n") : String($0) }
      .joined(separator: " ")
  }

  private func check(_ rules: CapsLockRules, _ row: String) throws {
    let cells = row.split(separator: " ").map(String.init)
    let state = try #require(Self.states[cells[0]])
    try #require(cells.count == Self.events.count + 1)
    for (event, cell) in zip(Self.events, cells.dropFirst()) {
      let next = rules.next(state, on: event)
      #expect(next == Self.states[cell], "\(state), \(event)")
      guard let next else { continue }
      let action: CapsLockRules.Action? =
        switch cell {
        case "W+", "F-": .tap
        case "L+", "L-", "x": .giveUp
        default: nil
        }
      #expect(rules.action(from: state, to: next, on: event) == action, "\(state), \(event)")
    }
  }

  @Test("each state does with each event what the table says", arguments: table)
  func transitions(_ row: String) throws { try check(CapsLockRules(), row) }

  @Test("once the LED has not come, nothing turns Caps Lock on", arguments: tableAfterGivingUp)
  func transitionsAfterGivingUp(_ row: String) throws {
    try check(CapsLockRules(turnsOn: false), row)
  }
}
