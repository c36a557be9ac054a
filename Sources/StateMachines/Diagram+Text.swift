extension String {
  /// The lines of a name or label, each escaped for a language of diagrams.
  ///
  /// Every kind of line break ends a line. Other control characters become U+FFFD, because none of
  /// the languages can draw them.
  ///
  /// - Parameter escape: what to write instead of a character, or `nil` to write it as it is, from
  ///   the character and those before and after it in the line.
  func escapedLines(
    _ escape: (
      _ scalar: Unicode.Scalar, _ before: Unicode.Scalar?, _ after: Unicode.Scalar?
    ) -> String?
  ) -> [String] {
    drawnLines.map { line in
      var text = ""
      for (index, scalar) in line.enumerated() {
        let before = index > 0 ? line[index - 1] : nil
        let after = index + 1 < line.count ? line[index + 1] : nil
        if let replacement = escape(scalar, before, after) {
          text += replacement
        } else {
          text.unicodeScalars.append(scalar)
        }
      }
      return text
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

extension Unicode.Scalar? {
  /// Whether there is a character, and it is a letter or a digit.
  var isAlphanumeric: Bool {
    guard let self else { return false }
    return self.properties.isAlphabetic || self.properties.numericType != nil
  }

  /// Whether there is a character, and it is one of 0 to 9.
  var isDigit: Bool {
    guard let self else { return false }
    return "0"..."9" ~= self
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
