extension Diagram {
  /// The diagram in the language of PlantUML.
  public var plantUML: String {
    var lines = ["@startuml"]
    for state in states {
      let name = node(state) == state ? state : "\"\(escaped(state))\" as \(node(state))"
      if state == current {
        lines.append("state \(name) \(Self.currentColor)")
      } else if node(state) != state || isolatedStates.contains(state) {
        lines.append("state \(name)")
      }
    }
    lines.append("[*] --> \(node(initial))")
    for edge in edges {
      let labels = edge.labels.map(escaped).joined(separator: "\\n")
      lines.append("\(node(edge.from)) --> \(node(edge.to)) : \(labels)")
    }
    for state in finalStates { lines.append("\(node(state)) --> [*]") }
    return (lines + ["@enduml"]).joined(separator: "\n") + "\n"
  }

  /// Words that begin a command in any version of PlantUML, in lower case.
  private static let reserved: Set = [
    "allowmixing", "as", "caption", "center", "end", "endfooter", "endheader", "endlegend",
    "endnote", "endtitle", "floating", "footer", "frame", "header", "hide", "hnote", "json",
    "left", "legend", "mainframe", "newpage", "note", "page", "remove", "restore", "right",
    "rnote", "rotate", "scale", "show", "skin", "skinparam", "sprite", "state", "style", "title",
    "together", "url",
  ]

  private func node(_ state: String) -> String {
    identifier(of: state, reserved: Self.reserved)
  }

  /// Replaces the characters that end a label, or could begin markup in it, with their numbers.
  private func escaped(_ text: String) -> String {
    let lines = text.escapedLines { character in
      Self.isPlain(character) ? nil : Self.number(of: character.scalar)
    }
    return lines == [""] ? Self.number(of: " ") : lines.joined(separator: "\\n")
  }

  private static func isPlain(_ character: LabelCharacter) -> Bool {
    switch character.scalar {
    case " ": !character.isAtEdge
    case "<": character.after == " "
    // These are markup at the beginning of a line or several at a time.
    case "(", ")", ",", "-", ".", "=", ">", "[", "]", "_":
      character.before != nil
        && ![character.before, character.after].contains(character.scalar)
    default: !character.scalar.isASCII || character.scalar.isAlphanumeric
    }
  }

  /// A character as PlantUML's markup for it. A space is a no-break space, because PlantUML removes
  /// others at both ends.
  private static func number(of scalar: Unicode.Scalar) -> String {
    let digits = String(scalar == " " ? 0xa0 : scalar.value, radix: 16, uppercase: true)
    return "<U+\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)>"
  }
}
