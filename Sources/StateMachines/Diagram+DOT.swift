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
      let mark = state == current ? " [style=\"rounded,filled\", fillcolor=\"#ffd75f\"]" : ""
      lines.append("  \(quoted(state))\(mark)")
    }
    lines.append("  \(quoted(point)) -> \(quoted(initial))")
    for edge in edges {
      let label = quoted(edge.labels.joined(separator: "\n"))
      lines.append("  \(quoted(edge.from)) -> \(quoted(edge.to)) [label=\(label)]")
    }
    return (lines + ["}"]).joined(separator: "\n") + "\n"
  }

  private func quoted(_ text: String) -> String {
    let escaped = text.replacingEach(["\\": "\\\\", "\"": "\\\"", "&": "&amp;"], lineBreak: "\\n")
    return "\"\(escaped)\""
  }
}
