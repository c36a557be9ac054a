import KeyboardModes
import Testing

@testable import Session

@Suite("Session: Caps Lock")
struct CapsLockTests {
  private typealias Phase = CapsLock.Phase

  private static let now: Int64 = 100_000_000

  /// The phases, each by a letter.
  private static let phases: [Character: Phase] = [
    "n": .notOurs, "w": .awaitsOn, "l": .late, "o": .ours, "f": .awaitsOff,
    "s": .settling(isAnswered: true), "u": .settling(isAnswered: false),
  ]

  /// When a phase ends, by a mark: `.` as before, at 7, `-` never, `2` in two seconds, `1` in one
  /// second, and `8` eight seconds after 7.
  private static let ends: [Character: Int64?] = [
    ".": 7, "-": nil, "2": now + 2_000_000, "1": now + 1_000_000, "8": 8_000_007,
  ]

  /// What happens to a phase, with the LED as it is then.
  private enum Event: CaseIterable { case entered, left, told, due }

  /// Every phase, wanted (`+`) or not (`_`), with every event: entered, left, told and due, each with
  /// the LED unknown, off and on. `!` is a tap, and `?` gives up. Where it is not ours, what is wanted
  /// makes no difference later. Some of these cannot happen, such as an LED that is off in `ours`.
  private static let table = [
    "n_-  n+- w+2! n+-  n_- n_- n_-   n_- n_- n_-   n_- n_-  n_- ",
    "n+-  n+- w+2! n+-  n_- n_- n_-   n+- n+- n+-   n+- n+-  n+- ",
    "w_.  w+. w+.  o+-  w_. w_. f_2!  w_. w_2 f_2!  w_- l_8? n_- ",
    "w+.  w+. w+.  o+-  w_. w_. f_2!  w+. w+2 o+-   w+- l+8? n+- ",
    "l_.  l+. l+.  o+-  l_. l_. f_2!  l_. l_. f_2!  n_- n_-  n_- ",
    "l+.  l+. l+.  o+-  l_. l_. f_2!  l+. l+. o+-   n+- n+-  n+- ",
    "o_-  o+- n+-  o+-  o_- n_- f_2!  o_- n_- f_2!  o_- o_-  o_- ",
    "o+-  o+- n+-  o+-  o_- n_- f_2!  o+- n+- o+-   o+- o+-  o+- ",
    "f_.  f+. w+2! f+.  f_. n_- f_.   f_. n_-  f_.  n_- n_-  n_-?",
    "f+.  f+. w+2! f+.  f_. n_- f_.   f+. w+2! f+.  n+- n+-  n+-?",
    "s_.  s+. s+.  s+.  s_. s_. s_.   s_- s_1 s_1   s_- n_-  f_2!",
    "s+.  s+. s+.  s+.  s_. s_. s_.   s+- s+1 s+1   s+- w+2! o+- ",
    "u_.  u+. u+.  u+.  u_. u_. u_.   u_- u_1 u_1   u_- n_-? f_2!",
    "u+.  u+. u+.  u+.  u_. u_. u_.   u+- u+1 u+1   u+- n+-? o+- ",
  ]

  /// The same once Caps Lock has not answered: nothing turns it on.
  private static let tableAfterGivingUp = table.map {
    $0.replacing("w+2!", with: "n+-")
  }

  /// The rows that differ while Caps Lock may be on with a dark LED.
  private static let tableWhileDark = [
    "w_.  w+. w+.  o+-  w_. w_. f_2!  w_. w_2 f_2!  w_- n_-  n_- ",
    "w+.  w+. w+.  o+-  w_. w_. f_2!  w+. w+2 o+-   w+- w+2! n+- ",
    "s_.  s+. s+.  s+.  s_. s_. s_.   s_- s_1 s_1   s_- w_2! f_2!",
    "s+.  s+. s+.  s+.  s_. s_. s_.   s+- s+1 s+1   s+- w+2! o+- ",
    "u_.  u+. u+.  u+.  u_. u_. u_.   u_- u_1 u_1   u_- w_2! f_2!",
    "u+.  u+. u+.  u+.  u_. u_. u_.   u+- u+1 u+1   u+- w+2! o+- ",
  ]

  private func capsLock(
    _ cell: Substring, _ led: LockRules.State, mayBeDark: Bool = false, turnsOn: Bool
  ) throws -> CapsLock {
    let marks = Array(cell)
    let (phase, until) = (try #require(Self.phases[marks[0]]), try #require(Self.ends[marks[2]]))
    return CapsLock(
      phase: phase, isWanted: marks[1] == "+", led: led, mayBeDark: mayBeDark, phaseEnd: until,
      turnsOn: turnsOn)
  }

  private func check(_ row: String, mayBeDark: Bool = false, turnsOn: Bool) throws {
    let cells = row.split(separator: " ")
    let columns = Event.allCases.flatMap { event in
      LockRules.State.allCases.map { (event, $0) }
    }
    try #require(cells.count == columns.count + 1)
    for ((event, led), cell) in zip(columns, cells.dropFirst()) {
      let before: LockRules.State = led == .unknown ? .off : .unknown
      var caps = try capsLock(
        cells[0], event == .told ? before : led, mayBeDark: mayBeDark, turnsOn: turnsOn)
      let action =
        switch event {
        case .entered: caps.want(true, at: Self.now)
        case .left: caps.want(false, at: Self.now)
        case .told: caps.update(led, at: Self.now)
        case .due: caps.passTime(to: Self.now)
        }
      let next = try capsLock(cell, led, turnsOn: turnsOn && action != .giveUpCapsLock)
      #expect(caps.phase == next.phase, "\(row): \(event), \(led)")
      #expect(caps.isWanted == next.isWanted, "\(row): \(event), \(led)")
      #expect(caps.phaseEnd == next.phaseEnd, "\(row): \(event), \(led)")
      #expect((caps.led, caps.turnsOn) == (led, next.turnsOn), "\(row): \(event), \(led)")
      #expect(
        action
          == (cell.hasSuffix("!") ? .tapCapsLock : cell.hasSuffix("?") ? .giveUpCapsLock : nil),
        "\(row): \(event), \(led)")
    }
  }

  @Test("each phase does with each event what the table says", arguments: table)
  func transitions(_ row: String) throws { try check(row, turnsOn: true) }

  @Test("a dark LED that may be wrong is asked by a tap", arguments: tableWhileDark)
  func transitionsWhileDark(_ row: String) throws { try check(row, mayBeDark: true, turnsOn: true) }

  @Test("once the LED has not come, nothing turns Caps Lock on", arguments: tableAfterGivingUp)
  func transitionsAfterGivingUp(_ row: String) throws { try check(row, turnsOn: false) }
}
