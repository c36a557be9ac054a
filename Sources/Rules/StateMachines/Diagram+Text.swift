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
