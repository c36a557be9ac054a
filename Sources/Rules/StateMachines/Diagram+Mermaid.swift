extension Diagram {
  /// The diagram in the language of Mermaid, which code forges draw.
  public var mermaid: String {
    var lines = ["stateDiagram-v2"]
    for state in states where node(state) != state {
      lines.append("  state \"\(escaped(state))\" as \(node(state))")
    }
    // Mermaid learns the states from the arrows, so only a state without arrows needs a line.
    let known = Set(arrows.flatMap { [$0.from, $0.to] } + [initial] + finalStates)
    for state in states where node(state) == state && !known.contains(state) {
      lines.append("  \(state)")
    }
    lines.append("  [*] --> \(node(initial))")
    for edge in edges {
      let labels = edge.labels.map(escaped).joined(separator: "<br/>")
      lines.append("  \(node(edge.from)) --> \(node(edge.to)): \(labels)")
    }
    for state in finalStates { lines.append("  \(node(state)) --> [*]") }
    if !acceptingStates.isEmpty {
      // Mermaid draws no double lines.
      lines.append("  classDef accepting stroke-width:4px")
      lines.append("  class \(acceptingStates.map(node).joined(separator: ",")) accepting")
    }
    if let current, states.contains(current) {
      lines.append("  classDef current fill:\(Self.currentColor),color:#000")
      lines.append("  class \(node(current)) current")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Words that cannot be identifiers, in lower case: keywords of some version of Mermaid, and
  /// properties that every JavaScript object has.
  private static let reserved: Set = [
    "accdescr", "acctitle", "class", "classdef", "click", "constructor", "default", "direction",
    "end", "hasownproperty", "hide", "href", "isprototypeof", "note", "propertyisenumerable",
    "root", "scale", "state", "statediagram", "style", "tolocalestring", "tostring", "valueof",
  ]

  /// The identifier of a state: its name if that is a word of ASCII letters and not reserved,
  /// otherwise `s` and its index.
  private func node(_ state: String) -> String {
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    let isWord = !state.isEmpty && state.utf8.allSatisfy { letters ~= $0 | 0x20 }
    if isWord, !Self.reserved.contains(state.lowercased()) { return state }
    return "s\(states.firstIndex(of: state) ?? states.count)"
  }

  /// Escapes characters that could end a label, or begin a tag, an entity, a formula, a comment or
  /// emphasis.
  private func escaped(_ text: String) -> String {
    let parts = text.split(separator: "<", omittingEmptySubsequences: false).map { part in
      String(part).escaped { scalar in
        switch scalar {
        case "&", "\"", "<", "#", "$", "%", "*", ":", ";", "\\", "`", "~", "_": "#\(scalar.value);"
        default: nil
        }
      }
    }
    // A "<" before a space begins no tag. It stays, because "#60;" is harder to read.
    return parts.dropFirst().reduce(parts[0]) { $0 + ($1.first == " " ? "<" : "#60;") + $1 }
  }
}
