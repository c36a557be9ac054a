extension Unicode.Scalar {
  /// How many columns a terminal draws it in, at most.
  fileprivate var width: Int {
    switch (value, properties.generalCategory) {
    case (..<0x300, _): 1
    // What changes the character before it.
    case (_, .nonspacingMark), (_, .enclosingMark), (0x2000..., .format): 0
    case (..<0x1100, _): 1
    default: 2  // Many of them need only one.
    }
  }
}

extension Character {
  /// How many columns a terminal draws it in, at most.
  ///
  /// Terminals differ most in emoji of several parts, which some draw side by side. So this serves for
  /// cutting lines, and not for finding the cursor.
  var width: Int {
    let sum = unicodeScalars.reduce(0) { $0 + $1.width }
    // The variation selector that asks for a picture, which is wide.
    return unicodeScalars.contains("\u{fe0f}") ? max(2, sum) : sum
  }
}

extension String {
  /// How many columns a terminal draws it in, at most.
  var width: Int { reduce(0) { $0 + $1.width } }

  /// The longest end that fits into this many columns.
  func end(columns: Int) -> String {
    var left = columns
    let end = reversed().prefix { character in
      left -= character.width
      return left >= 0
    }
    return String(end.reversed())
  }

  /// Lines of at most this many columns, but at least one character.
  func wrapped(columns: Int) -> [String] {
    var lines = [""]
    var width = 0
    for character in self {
      width += character.width
      if width > columns, lines.last != "" {
        lines.append("")
        width = character.width
      }
      lines[lines.count - 1].append(character)
    }
    return lines
  }
}
