import StateMachines
import Testing

/// The machine of every textbook: a coin unlocks, a push locks.
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

@Suite("Example: a turnstile")
struct TurnstileTests {
  @Test("does what its table says")
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
