extension Diagram {
  /// The diagram in the DOT language of Graphviz.
  public var dot: String {
    // The node at which the initial arrow begins, with a name that no state has.
    var point = "initial"
    while states.contains(point) { point += "_" }
    var lines = [
      "digraph {",
      "  rankdir=LR",
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
      // Empty lines around a label keep Graphviz from drawing an arrow at its letters. At the end
      // it needs a space to count.
      let label = (["\\n"] + edge.labels.map { "\(escaped($0))\\n" } + [" "]).joined()
      lines.append("  \(quoted(edge.from)) -> \(quoted(edge.to)) [label=\"\(label)\"]")
    }
    return (lines + ["}"]).joined(separator: "\n") + "\n"
  }

  private func attributes(of state: String) -> [String] {
    var attributes: [String] = []
    if state == current {
      attributes.append("style=\"rounded,filled\", fillcolor=\"\(Self.currentColor)\"")
    }
    if finalStates.contains(state) { attributes.append("peripheries=2") }
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
