import Terminal

extension String {
  /// An estimate of the drawn width, in pixels. It is rather too wide than too narrow, because the
  /// viewer's font is unknown.
  func width(fontSize: Double) -> Double {
    fontSize * unicodeScalars.reduce(0) { $0 + $1.width }
  }

  /// The string itself if it fits into `width`, otherwise its beginning and an ellipsis.
  func clipped(toWidth width: Double, fontSize: Double) -> String {
    guard self.width(fontSize: fontSize) > width else { return self }
    var room = width / fontSize - 1  // the ellipsis
    let kept = unicodeScalars.prefix { scalar in
      room -= scalar.width
      return room >= 0
    }
    return "\(Substring(kept))…"
  }

  /// The string itself if it fits into `width`, otherwise its last words. In names of states they
  /// tell more than the first words: `…Record` and `…EditText`, not twice `prepare…`.
  func lastWords(toWidth width: Double, fontSize: Double) -> String {
    var (rest, shown) = (self[...], self)
    while shown.width(fontSize: fontSize) > width {
      guard let next = rest.dropFirst().firstIndex(where: \.isUppercase) else {
        return String(rest).clipped(toWidth: width, fontSize: fontSize)
      }
      rest = rest[next...]
      shown = "…\(rest)"
    }
    return shown
  }

  /// The string as text of an XML document, on one line. Characters that XML cannot hold, or that a
  /// terminal would act on, become replacement characters.
  var xmlEscaped: String {
    unicodeScalars.map { scalar in
      switch scalar {
      case "&": "&amp;"
      case "<": "&lt;"
      case ">": "&gt;"
      case "\u{fffe}", "\u{ffff}": "\u{fffd}"
      default: scalar.isShown ? String(scalar) : "\u{fffd}"
      }
    }.joined()
  }
}

extension Unicode.Scalar {
  /// An estimate of the drawn width, in parts of the font's size.
  fileprivate var width: Double { isASCII ? 0.62 : 1 }
}

/// `microseconds` in seconds, with no more digits than needed: `12.5`.
func shortSeconds(_ microseconds: Int64) -> String {
  var text = seconds(microseconds)
  while text.hasSuffix("0") { text.removeLast() }
  return text.hasSuffix(".") ? String(text.dropLast()) : text
}

/// A coordinate, with at most two digits after the point.
func decimal(_ number: Double) -> String {
  let text = "\((number * 100).rounded() / 100)"
  return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
}

/// `1 change`, `2 changes`.
func counted(_ count: Int, _ one: String, _ many: String) -> String {
  "\(count) \(count == 1 ? one : many)"
}
