extension String {
  /// How wide this may be drawn: a guess that is rather too wide than too narrow, because nobody
  /// knows which font there will be.
  func width(fontSize: Double) -> Double {
    fontSize * unicodeScalars.reduce(0) { $0 + ($1.isASCII ? 0.62 : 1) }
  }

  /// This, as long as it may be, and otherwise its beginning with an ellipsis.
  func clipped(to count: Int) -> String {
    guard unicodeScalars.count > count else { return self }
    return String(String.UnicodeScalarView(unicodeScalars.prefix(count - 1))) + "…"
  }

  /// This, where it fits into `width`, and otherwise its beginning with an ellipsis.
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

  /// This in two lines, `prepareTo` and `Record`, broken before the capital letter that leaves the
  /// shortest lines; `nil` where it has no capital letter.
  var brokenAtCapital: (String, String)? {
    indices.dropFirst().filter { self[$0].isUppercase }
      .map { (String(self[..<$0]), String(self[$0...])) }
      .min { max($0.0.count, $0.1.count) < max($1.0.count, $1.1.count) }
  }

  /// This as the text or an attribute of an XML document, on one line. What XML cannot hold, control
  /// characters, is shown as a replacement character.
  var escaped: String {
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

/// `microseconds` in seconds with so many digits after the point, at most six; the rest is left out.
func seconds(_ microseconds: Int64, digits: Int) -> String {
  let magnitude = microseconds.magnitude
  let fraction = String(magnitude % 1_000_000)
  let padded = String(repeating: "0", count: 6 - fraction.count) + fraction
  let whole = "\(microseconds < 0 ? "-" : "")\(magnitude / 1_000_000)"
  return digits == 0 ? whole : "\(whole).\(padded.prefix(digits))"
}

/// `microseconds` in seconds, with no more digits than it takes: `12.5`.
func shortSeconds(_ microseconds: Int64) -> String {
  var (digits, rest) = (6, microseconds)
  while digits > 0 && rest.isMultiple(of: 10) { (digits, rest) = (digits - 1, rest / 10) }
  return seconds(microseconds, digits: digits)
}

/// A coordinate, with two digits after the point where it needs them.
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
