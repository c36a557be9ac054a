import Foundation
import StateMachineTesting
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

/// Rules with final states, one of them with a payload that changes.
private struct Job: DrawableRules {
  enum State: Hashable { case waiting, running, stuck, done, failed(Int) }
  enum Event: CaseIterable { case started, blocked, succeeded, broke }
  var initial: State { .waiting }
  func next(_ state: State, on event: Event) -> State? {
    switch (state, event) {
    case (.waiting, .started): .running
    case (.running, .blocked): .stuck
    case (.running, .succeeded): .done
    case (.running, .broke): .failed(1)
    case (.failed(let count), .broke): .failed(count + 1)
    default: nil
    }
  }
  var states: [State] { [.waiting, .running, .stuck, .done, .failed(1)] }
  var finalStates: [State] { [.failed(1), .done] }
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

  @Test("the current state is marked in both languages, if there is one")
  func current() throws {
    var machine = StateMachine(Turnstile())
    machine.send(.coin)
    let diagram = Diagram(of: machine)
    #expect(diagram == Diagram(of: Turnstile(), current: "unlocked"))
    #expect(diagram.mermaid.hasSuffix("  class unlocked current\n"))
    #expect(
      diagram.dot.contains(##"  "unlocked" [style="rounded,filled", fillcolor="#ffd75f"]"##))
    #expect(try svg(of: diagram).output.contains("#ffd75f"))
    let plain = Diagram(of: Turnstile())
    #expect(!plain.mermaid.contains("current") && !plain.dot.contains("ffd75f"))
    #expect(Diagram(of: Turnstile(), current: "gone").mermaid == plain.mermaid)
  }

  @Test("states and events may have any name")
  func oddNames() throws {
    let odd = try OddNames.read()
    var diagram = Diagram(
      states: odd.states, initial: odd.states[0],
      arrows: odd.events.enumerated().map { index, event in
        .init(from: odd.states[index], to: odd.states[index + 1], event: event)
      }, finalStates: Array(odd.states.suffix(1)))
    diagram.current = "a \"b\""
    try expectDiagram(diagram, "odd-names")
  }

  @Test("final states are marked in both languages, also if one is the current state")
  func finalStates() throws {
    let diagram = Diagram(of: Job(), current: "failed")
    #expect(diagram.finalStates == ["done", "failed"])
    try expectDiagram(diagram, "job")
  }

  @Test("a final state is told by its name, and is not dead")
  func soundFinalStates() {
    #expect(Job().isFinal(.failed(2)) && Job().isFinal(.done) && !Job().isFinal(.running))
    // A step to a state of the same name does not leave it.
    #expect(Job().soundnessFaults == [.deadState("stuck")])
    #expect(!Tank().isFinal(.empty), "by default there are no final states")
  }

  @Test("the final states of a described machine are in the order of its states")
  func describedFinalStates() {
    let diagram = Diagram(
      states: ["a", "b", "c"], initial: "a", arrows: [], finalStates: ["c", "x", "b", "c"])
    #expect(diagram.finalStates == ["b", "c"])
  }

  @Test("a state without arrows is drawn")
  func isolated() throws {
    let diagram = Diagram(states: ["a", "b", "c"], initial: "a", arrows: [], finalStates: ["c"])
    try expectDiagram(diagram, "isolated")
  }
}

/// The names of `odd-names.json`, which the tests of the languages' programs read too. Each event
/// leads from the state of its index to the next.
private struct OddNames: Decodable {
  let states: [String]
  let events: [String]

  static func read() throws -> OddNames {
    let file = diagramsFolder.appending(path: "odd-names.json")
    return try JSONDecoder().decode(OddNames.self, from: Data(contentsOf: file))
  }
}
