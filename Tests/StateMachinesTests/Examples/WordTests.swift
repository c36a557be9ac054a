import ObservedMachines
import StateMachines
import Testing

/// Accepts the words with an even number of ones: a finite automaton (Q, Σ, δ, q₀, F).
struct EvenOnes: DrawableRules {
  enum State: CaseIterable { case even, odd }
  enum Event: CaseIterable { case zero, one }

  var initial: State { .even }
  var acceptingStates: [State] { [.even] }

  func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.even, .one): .odd
    case (.odd, .one): .even
    case (.even, .zero): .even
    case (.odd, .zero): .odd
    }
  }
}

@Suite("Example: words with an even number of ones")
struct WordTests {
  @Test(
    "a word is accepted where it ends in an accepting state, which a longer word leaves",
    arguments: [("", true), ("1", false), ("11", true), ("0101", true), ("01011", false)])
  func words(_ word: String, _ isAccepted: Bool) {
    var plain = StateMachine(EvenOnes())
    let observed = ObservedMachine(EvenOnes())
    for letter in word {
      plain.send(letter == "1" ? .one : .zero)
      observed.send(letter == "1" ? .one : .zero)
    }
    #expect(plain.isAccepting == isAccepted && observed.isAccepting == isAccepted)
    #expect(!plain.isFinal && !observed.isFinal)
  }

  @Test("accepting states are drawn, and are not final")
  func diagram() throws {
    try expectSound(EvenOnes(), diagram: "even-ones")
  }
}
