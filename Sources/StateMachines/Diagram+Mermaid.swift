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

  /// Reserved words of any version of Mermaid, in lower case. They cannot be used for states.
  private static let reserved: Set = [
    "class", "classdef", "click", "default", "direction", "end", "hide", "href", "note", "scale",
    "state", "statediagram", "style",
  ]

  /// The identifier of a state in the text: its name if that is a plain word, otherwise `s` and its
  /// index.
  private func node(_ state: String) -> String {
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    let isWord = !state.isEmpty && state.utf8.allSatisfy { letters ~= $0 | 0x20 }
    if isWord, !Self.reserved.contains(state.lowercased()) { return state }
    return "s\(states.firstIndex(of: state) ?? states.count)"
  }

  /// Replaces the characters that end a label, or begin a tag or an entity in it, with entities of
  /// Mermaid.
  private func escaped(_ text: String) -> String {
    let parts = text.split(separator: "<", omittingEmptySubsequences: false).map { part in
      String(part).replacingEach(
        ["#": "#35;", "&": "#amp;", "\"": "#quot;", ":": "#58;", ";": "#59;"], lineBreak: "<br/>")
    }
    // Before a space, "<" begins no tag, and is easier to read unescaped.
    return parts.dropFirst().reduce(parts[0]) { text, part in
      text + (part.hasPrefix(" ") ? "<" : "#lt;") + part
    }
  }
}

extension String {
  /// The text with these characters and line breaks replaced. Carriage returns are removed, and
  /// other control characters become U+FFFD.
  func replacingEach(_ replacements: [Unicode.Scalar: String], lineBreak: String) -> String {
    var text = ""
    for scalar in unicodeScalars where scalar != "\r" {
      if let replacement = replacements[scalar] {
        text += replacement
      } else if scalar == "\n" || scalar == "\u{2028}" || scalar == "\u{2029}" {
        text += lineBreak
      } else if scalar.properties.generalCategory == .control {
        text += "\u{fffd}"
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}
