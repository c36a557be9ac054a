extension Diagram {
  /// The diagram in the DOT language of Graphviz.
  ///
  /// The label of an arrow between two states is a node in the middle of the arrow. Graphviz would
  /// place an ordinary label beside its edge, perhaps nearer to another edge.
  public var dot: String {
    var names = Set(states)
    // Returns a unique name, made from `name`, for a node that is not a state.
    func node(_ name: String) -> String {
      let isTaken = !names.insert(name).inserted
      return isTaken ? node("\(name)_") : name
    }
    let point = node("initial")
    var lines = [
      "digraph {",
      "  rankdir=LR",
      "  nodesep=0.2",
      "  ranksep=0.3",
      "  node [shape=box, style=rounded, fontname=\"sans-serif\"]",
      "  edge [fontname=\"sans-serif\", fontsize=11]",
      "  \(quoted(point)) [shape=point, width=0.15]",
    ]
    for state in states {
      let attributes = attributes(of: state)
      let list = attributes.isEmpty ? "" : " [\(attributes.joined(separator: ", "))]"
      lines.append("  \(quoted(state))\(list)")
    }
    lines.append("  \(quoted(point)) -> \(quoted(initial))")
    for edge in edges {
      let (from, to) = (quoted(edge.from), quoted(edge.to))
      let text = edge.labels.map(escaped).joined(separator: "\\n")
      if edge.from == edge.to {
        // Empty lines around the label keep Graphviz from drawing the arrow across the letters.
        // Graphviz ignores the last line unless it has a space.
        lines.append("  \(from) -> \(to) [label=\"\\n\(text)\\n \"]")
        continue
      }
      let label = quoted(node("\(edge.from) -> \(edge.to)"))
      lines.append("  \(label) [label=\"\(text)\", \(Self.labelStyle)]")
      // Graphviz places the start of an edge to the left of its end. So an arrow that leads back is
      // written in reverse, or its label would not be between the states.
      lines +=
        index(of: edge.from) < index(of: edge.to)
        ? ["  \(from) -> \(label) [dir=none]", "  \(label) -> \(to)"]
        : ["  \(to) -> \(label) [dir=back]", "  \(label) -> \(from) [dir=none]"]
    }
    if !finalStates.isEmpty {
      let end = quoted(node("final"))
      lines.append("  \(end) [shape=doublecircle, style=filled, label=\"\", width=0.1]")
      lines += finalStates.map { "  \(quoted($0)) -> \(end)" }
    }
    return (lines + ["}"]).joined(separator: "\n") + "\n"
  }

  private static let labelStyle =
    "shape=plaintext, style=\"\", fontsize=11, width=0, height=0, margin=\"0.06,0.03\""

  private func index(of state: String) -> Int { states.firstIndex(of: state) ?? states.count }

  private func attributes(of state: String) -> [String] {
    var attributes: [String] = []
    if state == current {
      attributes.append("style=\"rounded,filled\", fillcolor=\"\(Self.currentColor)\"")
    }
    if acceptingStates.contains(state) { attributes.append("peripheries=2") }
    return attributes
  }

  private func quoted(_ text: String) -> String { "\"\(escaped(text))\"" }

  private func escaped(_ text: String) -> String {
    text.escaped { scalar in
      switch scalar {
      case "\\": "\\\\"
      case "\"": "\\\""
      case "&": "&amp;"
      default: nil
      }
    }
  }
}
