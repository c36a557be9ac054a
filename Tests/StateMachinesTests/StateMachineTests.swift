import StateMachines
import TestSupport
import Testing

/// The machine of every textbook: a coin unlocks, a push locks.
private struct Turnstile: Rules {
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

@Suite("A state machine")
struct StateMachineTests {
  @Test("starts in the initial state")
  func initial() {
    #expect(StateMachine(Turnstile()).state == .locked)
  }

  @Test("takes an event: says what changed, and is there")
  func transition() {
    var machine = StateMachine(Turnstile())
    #expect(machine.take(.coin) == .init(from: .locked, to: .unlocked))
    #expect(machine.state == .unlocked)
    #expect(machine.take(.push) == .init(from: .unlocked, to: .locked))
    #expect(machine.state == .locked)
  }

  @Test("ignores an event that its rules do not list: says nothing, and stays")
  func ignored() {
    var machine = StateMachine(Turnstile())
    #expect(machine.take(.push) == nil)
    #expect(machine.state == .locked)
  }

  @Test("does one by one what folding its rules does")
  func folding() {
    var generator = SplitMix64(seed: 20_261_121)
    let events = (0..<1000).compactMap { _ in
      Turnstile.Event.allCases.randomElement(using: &generator)
    }
    let rules = Turnstile()
    var machine = StateMachine(rules)
    for event in events { _ = machine.take(event) }
    #expect(
      machine.state == events.reduce(rules.initial) { rules.next($0, on: $1) ?? $0 })
  }
}
