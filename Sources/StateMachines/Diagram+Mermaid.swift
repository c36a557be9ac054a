extension Diagram {
  /// The diagram in the language of Mermaid, which code forges draw.
  public var mermaid: String {
    var lines = ["stateDiagram-v2"]
    for state in states where node(state) != state {
      lines.append("  state \"\(escaped(state))\" as \(node(state))")
    }
    for state in isolatedStates where node(state) == state { lines.append("  \(state)") }
    lines.append("  [*] --> \(node(initial))")
    for edge in edges {
      let labels = edge.labels.map(escaped).joined(separator: "<br/>")
      lines.append("  \(node(edge.from)) --> \(node(edge.to)): \(labels)")
    }
    for state in finalStates { lines.append("  \(node(state)) --> [*]") }
    if let current, states.contains(current) {
      lines.append("  classDef current fill:\(Self.currentColor),color:#000")
      lines.append("  class \(node(current)) current")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Words that begin something other than a state in any version of Mermaid, and names that every
  /// object of JavaScript has, in lower case.
  private static let reserved: Set = [
    "accdescr", "acctitle", "class", "classdef", "click", "constructor", "default", "direction",
    "end", "hasownproperty", "hide", "href", "isprototypeof", "note", "propertyisenumerable",
    "root", "scale", "state", "statediagram", "style", "tolocalestring", "tostring", "valueof",
  ]

  private func node(_ state: String) -> String {
    identifier(of: state, reserved: Self.reserved)
  }

  /// Replaces the characters that end a label, or that begin a tag, an entity, a formula, a comment
  /// or emphasis in it, with entities of Mermaid.
  private func escaped(_ text: String) -> String {
    let lines = text.escapedLines { character in
      switch character.scalar {
      case "&": "#amp;"
      case "\"": "#quot;"
      // Before a space, "<" begins no tag, and is easier to read unescaped.
      case "<" where character.after != " ": "#lt;"
      // Mermaid removes all kinds of spaces at both ends, unless they are entities.
      case " " where character.isAtEdge: "#160;"
      case let space where space.properties.isWhitespace && character.isAtEdge: "#\(space.value);"
      default: Self.isMarkup(character) ? "#\(character.scalar.value);" : nil
      }
    }
    return lines == [""] ? "#160;" : lines.joined(separator: "<br/>")
  }

  private static func isMarkup(_ character: LabelCharacter) -> Bool {
    switch character.scalar {
    case "#", "$", "%", "*", ":", ";", "\\", "`", "~": true
    case "[": character.after == "["
    case "_": !character.followsAlphanumeric
    // These begin lists, which Mermaid does not draw, and quotations.
    case "+", "-", ">": character.before == nil
    case ".", ")": character.followsNumber
    default: false
    }
  }
}
