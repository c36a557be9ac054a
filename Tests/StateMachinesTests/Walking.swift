import Foundation
import StateMachineTesting
import StateMachines
import TestSupport
import Testing

/// The next state for every pair of state and event, one line each; `/` if the event is ignored.
func table<R: DrawableRules>(of rules: R) -> String {
  rules.states.flatMap { state in
    rules.samples.map { sample in
      let next = rules.next(state, on: sample.event).map { "\($0)" } ?? "/"
      return "\(state) + \(sample.event) → \(next)"
    }
  }.joined(separator: "\n").replacing(/StateMachinesTests\.(\w+\.)*/, with: "")
}

/// The lines of ``table(of:)`` that are not ignored, of a machine with `pairs` pairs in all.
func steps<R: DrawableRules>(of rules: R, pairs: Int) -> [String] {
  let lines = table(of: rules).split(separator: "\n")
  #expect(lines.count == pairs)
  return lines.filter { !$0.hasSuffix("/") }.map(String.init)
}

/// Checks what must be true of every machine.
///
/// - Parameter diagram: the name of the golden files of its diagram.
func expectSound<R: DrawableRules>(_ rules: R, diagram name: String) throws {
  try expectDiagram(Diagram(of: rules), name)
  #expect(rules.soundnessFaults == [])
  var generator = SplitMix64(seed: 1)
  #expect(rules.faults(ofRandomWalks: 100, using: &generator) == [])
  #expect(rules.shortestPaths().faults == [])
}

/// The folder of the golden files.
let diagramsFolder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  .appending(path: "Diagrams")

/// Compares a diagram with its golden files, of which there is one at least, and lets Graphviz draw it.
func expectDiagram(_ diagram: Diagram, _ name: String) throws {
  for (text, suffix) in [(diagram.mermaid, "mmd"), (diagram.dot, "dot")] {
    let file = diagramsFolder.appending(path: "\(name).\(suffix)")
    guard suffix == "mmd" || FileManager.default.fileExists(atPath: file.path) else { continue }
    if ProcessInfo.processInfo.environment["REMAKE_DIAGRAMS"] == "1" {
      try text.write(to: file, atomically: true, encoding: .utf8)
      Issue.record("\(name).\(suffix) was made anew: look at it, and run the tests without that")
    }
    #expect(try text == String(contentsOf: file, encoding: .utf8))
  }
  let drawn = try svg(of: diagram)
  #expect(drawn.status == 0, "\(drawn.errors)")
  #expect(drawn.errors == "")
  // Each state is one node, as is the start of the initial arrow, the end of the final ones, and the
  // label of each other arrow that leads to another state.
  let nodes = drawn.output.components(separatedBy: "class=\"node\"").count - 1
  let labels = Set(diagram.arrows.filter { $0.from != $0.to }.map { [$0.from, $0.to] })
  #expect(nodes == diagram.states.count + (diagram.finalStates.isEmpty ? 1 : 2) + labels.count)
}

/// The diagram as SVG, drawn by Graphviz.
func svg(of diagram: Diagram) throws -> Ended {
  try run("/usr/bin/dot", ["-Tsvg"], input: diagram.dot)
}
