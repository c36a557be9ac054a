import StateMachines
import Testing

/// The amount decides whether `poured` is ignored; when filled, it changes only the payload.
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

/// Rules with an unreachable state and a dead state.
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

/// Rules whose samples lack their conditions, and whose states lack `c`.
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

@Suite("Diagram")
struct DiagramTests {
  @Test("an arrow has a condition where the payload decides, including whether to ignore")
  func conditions() throws {
    #expect(
      Diagram(of: Tank()).arrows.map { "\($0.from) → \($0.to): \($0.label)" } == [
        "empty → filled: poured [> 0]", "filled → filled: poured", "filled → empty: drained",
      ])
    try expectSound(Tank(), diagram: "tank")
  }

  @Test("unreachable and dead states are found")
  func walk() {
    #expect(Broken().unreachableStates == ["lost"])
    #expect(Broken().deadStates == ["end"])
    #expect(Turnstile().unreachableStates == [])
    #expect(Turnstile().deadStates == [])
  }

  @Test("ambiguous arrows and unknown states are found")
  func forgetful() {
    #expect(
      Forgetful().ambiguousArrows.map { "\($0.from) → \($0.to): \($0.label)" }
        == ["a → b: go", "a → c: go"])
    #expect(Forgetful().unknownStates == ["c"])
  }

  @Test("the current state is marked in Mermaid and DOT, if there is one")
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

  @Test("the text of a diagram is always the same")
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

  @Test("states may have any name")
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
