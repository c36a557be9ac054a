import StateMachines
import Testing

/// Two ways to go, by how much there is; and one that changes nothing but the amount.
private struct Tank: DrawableRules {
  enum State: Hashable { case empty, filled(Int) }
  enum Event: Hashable { case poured(Int), drained }

  var initial: State { .empty }

  func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.empty, .poured(let amount)): amount > 0 ? .filled(amount) : nil
    case (.filled(let amount), .poured(let more)): .filled(amount + more)
    case (.filled, .drained): .empty
    case (.empty, .drained): nil
    }
  }

  var states: [State] { [.empty, .filled(1)] }
  var samples: [Sample<Event>] {
    [Sample(.poured(0), where: "0"), Sample(.poured(2), where: "> 0"), Sample(.drained)]
  }
}

/// Rules with a state that nothing leads to, and one that nothing leads out of.
private struct Broken: DrawableRules {
  enum State: CaseIterable { case start, end, lost }
  enum Event: CaseIterable { case go }
  var initial: State { .start }
  func next(_ state: State, on event: Event) -> State? {
    switch state {
    case .start: .end
    case .lost: .start
    case .end: nil
    }
  }
}

/// Rules that do not say what decides between two ways, nor where one of them leads.
private struct Forgetful: DrawableRules {
  enum State { case a, b, c }
  enum Event { case go(Int) }
  var initial: State { .a }
  func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.a, .go(1)): .b
    case (.a, .go): .c
    case (.b, .go), (.c, .go): nil
    }
  }
  var states: [State] { [.a, .b] }
  var samples: [Sample<Event>] { [Sample(.go(1)), Sample(.go(2))] }
}

@Suite("A diagram")
struct DiagramTests {
  @Test("shows a condition where the same event does different things, ignoring among them")
  func conditions() throws {
    #expect(
      Diagram(of: Tank()).arrows.map { "\($0.from) → \($0.to): \($0.label)" } == [
        "empty → filled: poured [> 0]", "filled → filled: poured", "filled → empty: drained",
      ])
    try expectSound(Tank(), diagram: "tank")
  }

  @Test("finds what cannot be reached and what cannot be left")
  func walk() {
    #expect(Broken().unreachableStates == ["lost"])
    #expect(Broken().deadStates == ["end"])
    #expect(Turnstile().unreachableStates == [])
    #expect(Turnstile().deadStates == [])
  }

  @Test("finds what its rules forgot to tell apart or to name")
  func forgetful() {
    #expect(
      Forgetful().ambiguousArrows.map { "\($0.from) → \($0.to): \($0.label)" }
        == ["a → b: go", "a → c: go"])
    #expect(Forgetful().unknownStates == ["c"])
  }

  @Test("marks the current state in both languages, and only where there is one")
  func current() throws {
    var machine = StateMachine(Turnstile())
    machine.take(.coin)
    let diagram = Diagram(of: machine)
    #expect(diagram == Diagram(of: Turnstile(), current: "unlocked"))
    #expect(diagram.mermaid.hasSuffix("  class unlocked current\n"))
    #expect(
      diagram.dot.contains(##"  "unlocked" [style="rounded,filled", fillcolor="#ffd75f"]"##))
    let drawn = try svg(of: diagram)
    #expect(drawn.status == 0)
    #expect(drawn.output.contains("#ffd75f"))
    let plain = Diagram(of: Turnstile())
    #expect(!plain.mermaid.contains("current") && !plain.dot.contains("ffd75f"))
    #expect(Diagram(of: Turnstile(), current: "gone").mermaid == plain.mermaid)
  }

  @Test("is always the same text")
  func deterministic() {
    #expect(Diagram(of: BetterFridge()).dot == Diagram(of: BetterFridge()).dot)
    #expect(
      Diagram(of: Turnstile()).dot == """
        digraph {
          rankdir=LR
          node [shape=box, style=rounded, fontname="sans-serif"]
          edge [fontname="sans-serif", fontsize=11]
          "initial" [shape=point, width=0.15]
          "locked"
          "unlocked"
          "initial" -> "locked"
          "locked" -> "unlocked" [label="coin"]
          "unlocked" -> "locked" [label="push"]
        }

        """)
  }

  @Test("can have states of any name")
  func oddNames() throws {
    let names = [
      "initial", "initial_", "end", "State", "default", "note", "node", "graph", "a \"b\"",
      "x -> y",
      "\\", "two\nlines", "more\r\nlines", "nul\u{0}", "a&amp;b", "ü", "#1", "a b",
    ]
    let rows = zip(names, names.dropFirst()).map { ($0, "go \"\\ <b> < : ; \r\n & \u{2028}", $1) }
    let table = try TransitionTable(states: names, initial: "initial", rows: rows)
    try expectDiagram(Diagram(of: table, current: "a \"b\""), "odd-names")
  }
}
