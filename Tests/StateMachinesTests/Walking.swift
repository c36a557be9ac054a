import Foundation
import StateMachines
import TestSupport
import Testing

/// What rules do for every pair of state and event, a line each; `/` is ignored.
func table<R: DrawableRules>(of rules: R) -> String {
  rules.states.flatMap { state in
    rules.samples.map { sample in
      let next = rules.next(state, on: sample.event).map { "\($0)" } ?? "/"
      return "\(state) + \(sample.event) → \(next)"
    }
  }.joined(separator: "\n").replacing(/StateMachinesTests\.(\w+\.)*/, with: "")
}

/// What must be true of every machine, whatever it is for.
///
/// - Parameter diagram: the name of the golden file of its diagram, in Mermaid.
func expectSound<R: DrawableRules>(_ rules: R, diagram name: String) throws {
  try expectDiagram(Diagram(of: rules), name)
  expectDeterministic(rules)
  #expect(rules.unreachableStates == [])
  #expect(rules.states.contains(rules.initial))

  // Every step of a random run is an arrow of the diagram, and every arrow is taken by some run.
  let arrows = Diagram(of: rules).arrows
  var taken: Set<Int> = []
  var generator = SplitMix64(seed: 1)
  for _ in 0..<100 {
    var machine = StateMachine(rules)
    var folded = rules.initial
    for _ in 0..<50 {
      let sample = try #require(rules.samples.randomElement(using: &generator))
      let accepts = machine.accepts(sample.event)
      let nextStates = machine.nextStates
      let before = machine.state
      let step = machine.take(sample.event)
      folded = rules.next(folded, on: sample.event) ?? folded
      #expect(machine.state == folded, "one by one is the same as folding")
      #expect(accepts == (step != nil))
      guard let step else {
        #expect(machine.state == before)
        continue
      }
      #expect(step == .init(from: before, to: machine.state))
      let (from, to) = (rules.name(of: step.from), rules.name(of: step.to))
      #expect(nextStates.contains(to))
      let place = arrows.firstIndex { arrow in
        arrow.from == from && arrow.to == to && arrow.event == sample.name
          && (arrow.condition == nil || arrow.condition == sample.condition)
      }
      taken.insert(try #require(place, "\(from) → \(to) on \(sample.name) is not drawn"))
    }
  }
  #expect(taken.count == arrows.count, "some arrow was never taken")
}

/// That no two arrows leave one state by the same event under the same condition.
func expectDeterministic<R: DrawableRules>(_ rules: R) {
  let choices = Diagram(of: rules).arrows.map { [$0.from, $0.label] }
  #expect(Set(choices).count == choices.count)
}

/// Compares a diagram with its golden file, and lets Graphviz draw it.
func expectDiagram(_ diagram: Diagram, _ name: String) throws {
  let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appending(path: "Diagrams/\(name).mmd")
  // To be looked at before it is committed.
  if ProcessInfo.processInfo.environment["REMAKE_DIAGRAMS"] == "1" {
    try diagram.mermaid.write(to: file, atomically: true, encoding: .utf8)
  }
  #expect(try diagram.mermaid == String(contentsOf: file, encoding: .utf8))
  let drawn = try svg(of: diagram)
  #expect(drawn.status == 0, "\(drawn.errors)")
  #expect(drawn.errors == "")
  #expect(drawn.output.contains("<svg"))
}

/// What Graphviz makes of the diagram.
func svg(of diagram: Diagram) throws -> Ended {
  try run("/usr/bin/dot", ["-Tsvg"], input: diagram.dot)
}
