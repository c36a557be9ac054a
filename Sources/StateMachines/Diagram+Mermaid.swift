extension Diagram {
  /// The diagram in the language of Mermaid, which code forges draw.
  public var mermaid: String {
    var lines = ["stateDiagram-v2"]
    for state in states where node(state) != state {
      lines.append("  state \"\(escaped(state))\" as \(node(state))")
    }
    lines.append("  [*] --> \(node(initial))")
    for edge in edges {
      let labels = edge.labels.map(escaped).joined(separator: "<br/>")
      lines.append("  \(node(edge.from)) --> \(node(edge.to)): \(labels)")
    }
    if let current, states.contains(current) {
      lines.append("  classDef current fill:#ffd75f,color:#000")
      lines.append("  class \(node(current)) current")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Words of the language's own, which no state can be called by.
  private static let reserved: Set = ["state", "class", "classDef", "note", "end", "direction"]

  /// What a state is called in the text: its name, where that is a plain word.
  private func node(_ state: String) -> String {
    let isWord = state.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      default: false
      }
    }
    if isWord, !state.isEmpty, !Self.reserved.contains(state) { return state }
    return "s\(states.firstIndex(of: state) ?? states.count)"
  }

  /// The signs that end a label, or begin a tag or an entity in it, as entities of Mermaid.
  private func escaped(_ text: String) -> String {
    text.replacingEach([
      "#": "#35;", "<": "#lt;", ">": "#gt;", "\"": "#quot;", ":": "#58;", ";": "#59;",
      "\n": "<br/>",
    ])
  }
}

extension String {
  /// The text with each of these characters replaced.
  func replacingEach(_ replacements: [Character: String]) -> String {
    reduce(into: "") { text, character in
      text += replacements[character] ?? String(character)
    }
  }
}
