import StateMachines
import Testing

/// The textbook machine: a coin unlocks, a push locks.
struct Turnstile: DrawableRules {
  enum State: CaseIterable { case locked, unlocked }
  enum Event: CaseIterable { case coin, push }

  var initial: State { .locked }

  func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.locked, .coin): .unlocked
    case (.unlocked, .push): .locked
    case (.locked, .push), (.unlocked, .coin): nil
    }
  }
}

@Suite("Example: turnstile")
struct TurnstileTests {
  @Test("the turnstile follows its table")
  func rules() throws {
    #expect(
      table(of: Turnstile()) == """
        locked + coin → unlocked
        locked + push → /
        unlocked + coin → /
        unlocked + push → locked
        """)
    try expectSound(Turnstile(), diagram: "turnstile")
  }
}
