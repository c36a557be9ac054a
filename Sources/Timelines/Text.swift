extension String {
  /// An estimate of the drawn width, rather too wide than too narrow, because the viewer's font is
  /// unknown.
  func width(fontSize: Double) -> Double {
    fontSize * unicodeScalars.reduce(0) { $0 + ($1.isASCII ? 0.62 : 1) }
  }

  /// The string itself if it has at most `count` Unicode scalars, otherwise its beginning and an
  /// ellipsis.
  func clipped(to count: Int) -> String {
    guard unicodeScalars.count > count else { return self }
    return String(String.UnicodeScalarView(unicodeScalars.prefix(count - 1))) + "…"
  }

  /// The string itself if it fits into `width`, otherwise its beginning and an ellipsis.
  func clipped(toWidth width: Double, fontSize: Double) -> String {
    guard self.width(fontSize: fontSize) > width else { return self }
    var kept = ""
    var used = fontSize  // the ellipsis
    for scalar in unicodeScalars {
      used += String(scalar).width(fontSize: fontSize)
      guard used <= width else { break }
      kept.unicodeScalars.append(scalar)
    }
    return kept + "…"
  }

  /// The string in two lines, such as `prepareTo` and `Record`, broken before the capital letter
  /// that gives the shortest lines; `nil` if there is no capital letter after the first character.
  var brokenAtCapital: (String, String)? {
    indices.dropFirst().filter { self[$0].isUppercase }
      .map { (String(self[..<$0]), String(self[$0...])) }
      .min { max($0.0.count, $0.1.count) < max($1.0.count, $1.1.count) }
  }

  /// The string as text or an attribute value of an XML document, on one line. Control characters,
  /// which XML cannot hold, become replacement characters.
  package var escaped: String {
    var result = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\n", "\r", "\t", "\u{2028}", "\u{2029}": result += " "
      case "\u{fffe}", "\u{ffff}": result += "\u{fffd}"
      default:
        let isControl = scalar.properties.generalCategory == .control
        result.unicodeScalars.append(isControl ? "\u{fffd}" : scalar)
      }
    }
    return result
  }
}

/// `microseconds` in seconds with up to six digits after the point; the rest is cut off.
func seconds(_ microseconds: Int64, digits: Int) -> String {
  let magnitude = microseconds.magnitude
  let fraction = String(magnitude % 1_000_000)
  let padded = String(repeating: "0", count: 6 - fraction.count) + fraction
  let whole = "\(microseconds < 0 ? "-" : "")\(magnitude / 1_000_000)"
  return digits == 0 ? whole : "\(whole).\(padded.prefix(digits))"
}

/// `microseconds` in seconds, with no more digits than needed: `12.5`.
func shortSeconds(_ microseconds: Int64) -> String {
  var (digits, rest) = (6, microseconds)
  while digits > 0 && rest.isMultiple(of: 10) { (digits, rest) = (digits - 1, rest / 10) }
  return seconds(microseconds, digits: digits)
}

/// A coordinate, with at most two digits after the point.
func decimal(_ number: Double) -> String {
  let hundredths = Int((number * 100).rounded())
  let (whole, rest) = hundredths.magnitude.quotientAndRemainder(dividingBy: 100)
  let sign = hundredths < 0 ? "-" : ""
  if rest == 0 { return "\(sign)\(whole)" }
  let digits = rest.isMultiple(of: 10) ? "\(rest / 10)" : rest < 10 ? "0\(rest)" : "\(rest)"
  return "\(sign)\(whole).\(digits)"
}

/// `1 change`, `2 changes`.
func counted(_ count: Int, _ one: String, _ many: String) -> String {
  "\(count) \(count == 1 ? one : many)"
}
