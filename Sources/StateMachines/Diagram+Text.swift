/// A character at its place in a line of a name or label.
struct LabelCharacter {
  let line: [Unicode.Scalar]
  let index: Int

  var scalar: Unicode.Scalar { line[index] }
  var before: Unicode.Scalar? { index > 0 ? line[index - 1] : nil }
  var after: Unicode.Scalar? { index + 1 < line.count ? line[index + 1] : nil }

  var isAtEdge: Bool { before == nil || after == nil }
  var followsAlphanumeric: Bool { before.map(\.isAlphanumeric) ?? false }
  /// Whether there are only digits before it, such as before the dot of `1. one`.
  var followsNumber: Bool { index > 0 && line[..<index].allSatisfy { "0"..."9" ~= $0 } }
}

extension Unicode.Scalar {
  /// Whether this is a letter or a digit.
  var isAlphanumeric: Bool { properties.isAlphabetic || properties.numericType != nil }
}

extension String {
  /// The lines of a name or label, each escaped for a language of diagrams.
  ///
  /// Every kind of line break ends a line. Other control characters become U+FFFD, because none of
  /// the languages can draw them.
  ///
  /// - Parameter escape: what to write instead of a character; `nil` to write it as it is.
  func escapedLines(_ escape: (LabelCharacter) -> String?) -> [String] {
    drawnLines.map { line in
      line.indices.map { index in
        escape(LabelCharacter(line: line, index: index)) ?? String(line[index])
      }.joined()
    }
  }

  /// Whether the drawn text is not exactly this one, so that it could be that of another state too.
  var isChangedByDrawing: Bool { drawnLines != [Array(unicodeScalars)] }

  private var drawnLines: [[Unicode.Scalar]] {
    split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { line in
      line.unicodeScalars.map { $0.properties.generalCategory == .control ? "\u{fffd}" : $0 }
    }
  }
}

extension Diagram {
  /// The states that no arrow leads from or to, other than the initial one, which always has one.
  var isolatedStates: [String] {
    let joined = Set(arrows.flatMap { [$0.from, $0.to] } + [initial] + finalStates)
    return states.filter { !joined.contains($0) }
  }

  /// The identifier of a state in a language that has identifiers beside labels: its name if that is
  /// a word of ASCII letters and not in `reserved`, otherwise `s` and its index.
  ///
  /// - Parameter reserved: words in lower case that cannot be used for states.
  func identifier(of state: String, reserved: Set<String>) -> String {
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    let isWord = !state.isEmpty && state.utf8.allSatisfy { letters ~= $0 | 0x20 }
    if isWord, !reserved.contains(state.lowercased()) { return state }
    return "s\(states.firstIndex(of: state) ?? states.count)"
  }
}
