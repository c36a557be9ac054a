extension Diagram {
  /// The diagram in words, for people who cannot see it: the initial state, and for each state
  /// where its arrows lead.
  public var description: String {
    let initial = "It begins in \(initial)."
    let states = states.map { state in
      let leaving = edges.filter { $0.from == state }
        .map { "\($0.labels.joined(separator: " or ")) leads to \($0.to)" }
      let accepting = acceptingStates.contains(state) ? ", which is accepting" : ""
      let arrows = leaving.isEmpty ? "no event leads away" : leaving.joined(separator: "; ")
      return "In \(state)\(accepting), \(arrows)."
    }
    let now = current.map { ["It is in \($0) now."] } ?? []
    return ([initial] + states + now).joined(separator: " ")
  }
}

extension String {
  /// The text of a name or label in a language of diagrams. Control characters, line breaks too,
  /// become U+FFFD, because the languages cannot draw them.
  ///
  /// - Parameter escape: what to write instead of a character; `nil` to write it as it is.
  func escaped(_ escape: (Unicode.Scalar) -> String?) -> String {
    unicodeScalars.map { scalar in
      let isControl = scalar.properties.generalCategory == .control
      return isControl ? "\u{fffd}" : escape(scalar) ?? String(scalar)
    }.joined()
  }
}
