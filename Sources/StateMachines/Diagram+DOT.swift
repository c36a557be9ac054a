extension Diagram {
  /// The diagram in the DOT language of Graphviz.
  public var dot: String {
    // The node at which the initial arrow begins, with a name that no state has.
    let point = quoted(unused("initial"))
    var lines = [
      "digraph {",
      "  rankdir=LR",
      "  node [shape=box, style=rounded, fontname=\"sans-serif\"]",
      "  edge [fontname=\"sans-serif\", fontsize=11]",
      "  \(point) [shape=point, width=0.15]",
    ]
    for state in states {
      let attributes = attributes(of: state)
      let list = attributes.isEmpty ? "" : " [\(attributes.joined(separator: ", "))]"
      lines.append("  \(node(state))\(list)")
    }
    lines.append("  \(point) -> \(node(initial))")
    for edge in edges {
      // Empty lines around a label keep Graphviz from drawing an arrow at its letters. At the end it
      // needs a space to count.
      let label = quoted((["\n"] + edge.labels.map { "\($0)\n" } + [" "]).joined())
      lines.append("  \(node(edge.from)) -> \(node(edge.to)) [label=\(label)]")
    }
    return (lines + ["}"]).joined(separator: "\n") + "\n"
  }

  private func attributes(of state: String) -> [String] {
    var attributes: [String] = []
    if node(state) != quoted(state) { attributes.append("label=\(quoted(state))") }
    if state == current {
      attributes.append("style=\"rounded,filled\", fillcolor=\"\(Self.currentColor)\"")
    }
    if finalStates.contains(state) { attributes.append("peripheries=2") }
    return attributes
  }

  /// The identifier of a state, which Graphviz draws unless there is a label: its name, or `s` and
  /// its index if another name could look the same, or if Graphviz would draw a number of its own.
  private func node(_ state: String) -> String {
    guard state.isChangedByDrawing || state.hasPrefix("%") else { return quoted(state) }
    return quoted(unused("s\(states.firstIndex(of: state) ?? states.count)"))
  }

  /// This name, with as many `_` as it takes to be that of no state.
  private func unused(_ name: String) -> String {
    var name = name
    while states.contains(name) { name += "_" }
    return name
  }

  private func quoted(_ text: String) -> String {
    let lines = text.escapedLines { character in
      switch character.scalar {
      case "\\": "\\\\"
      case "\"": "\\\""
      case "&": "&amp;"
      default: nil
      }
    }
    return "\"\(lines.joined(separator: "\\n"))\""
  }
}
