import Terminal

/// The YAML of a text: unquoted if every parser of YAML reads it as this text, otherwise in double
/// quotes with invisible characters escaped.
func scalar(_ text: String) -> String {
  guard !isPlain(text) else { return text }
  return "\"\(text.unicodeScalars.map(escaped).joined())\""
}

/// Whether `text` is a word of ASCII letters, digits and harmless marks, without a meaning in YAML.
private func isPlain(_ text: String) -> Bool {
  guard let first = text.utf8.first, isLetter(first) else { return false }
  let marks = Array("+-_.0123456789".utf8)
  guard text.utf8.allSatisfy({ isLetter($0) || marks.contains($0) }) else { return false }
  // Parsers of YAML 1.1 read these as booleans or null.
  return !["y", "n", "yes", "no", "on", "off", "true", "false", "null"]
    .contains(text.lowercased())
}

func isLetter(_ byte: UInt8) -> Bool {
  (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
}

private func escaped(_ character: Unicode.Scalar) -> String {
  switch character {
  case "\"", "\\": return "\\\(character)"
  case " "..<"\u{7f}": return String(character)
  default:
    switch character.properties.generalCategory {
    // Characters of all other categories may be invisible, or parsers may refuse them.
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .otherLetter, .decimalNumber:
      if !character.properties.isDefaultIgnorableCodePoint { return String(character) }
    default: break
    }
    return "\\U\(padded(character.value, 8, radix: 16, "0"))"
  }
}
