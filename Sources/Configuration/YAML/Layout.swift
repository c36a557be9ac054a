/// What people often get wrong in the layout of YAML, and what libyaml's messages hardly tell.
extension YAMLError {
  /// This error with a message that tells how to mend it, if the layout of its line is wrong.
  func explained(by lines: [Substring]) -> YAMLError? {
    guard lines.indices.contains(mark.line - 1) else { return nil }
    // Lines that say something, from the present one upwards.
    let numbers = (0..<mark.line).reversed().lazy
      .filter { $0 == mark.line - 1 || !lines[$0].isBlankOrComment }
    if message.mentions("mapping values") || message.mentions("expected ':'") {
      for number in numbers.prefix(2) {
        guard let name = nameWithoutSpace(lines[number]) else { continue }
        let place = Mark(
          file: mark.file, line: number + 1, column: lines[number].indentation + 1,
          length: name.count + 1)
        return YAMLError(missingSpace(after: name), at: place)
      }
    }
    let own = lines[mark.line - 1].indentation
    let above = numbers.dropFirst()
    if message.mentions("mapping values"), let last = above.first,
      lines[last].indentation < own, lines[last].last != ":"
    {
      return YAMLError(
        "this line is indented deeper than line \(last + 1), which has a value; indent both alike",
        at: Mark(file: mark.file, line: mark.line, column: own + 1))
    }
    guard message.mentions("did not find expected key"), mark.column == own + 1 else { return nil }
    // The lines that this one may belong to, from the deepest.
    var open: [(depth: Int, line: Int)] = []
    for number in above where lines[number].indentation < open.last?.depth ?? .max {
      open.append((lines[number].indentation, number + 1))
    }
    guard !open.contains(where: { $0.depth == own }) else { return nil }
    let fitting = [open.last { $0.depth > own }, open.first { $0.depth < own }].compactMap(\.self)
      .map { "by \($0.depth), as line \($0.line)" }
    return YAMLError(
      "this line is indented by \(own); indent it \(fitting.joined(separator: ", or "))", at: mark)
  }
}

/// The message about a name whose colon has no space behind it.
func missingSpace(after name: Substring) -> String { "a space is missing after '\(name):'" }

/// The name at the start of a text such as `name:value`.
func nameWithoutSpace(_ text: Substring) -> Substring? {
  let text = text.drop { $0 == " " }
  let name = text.prefix { $0.isASCII && $0.isLetter || $0 == "_" }
  let rest = text[name.endIndex...]
  guard !name.isEmpty, rest.first == ":", let next = rest.dropFirst().first, next != " " else {
    return nil
  }
  return name
}

extension StringProtocol {
  /// How many spaces it begins with.
  var indentation: Int { prefix { $0 == " " }.count }

  fileprivate var isBlankOrComment: Bool {
    let first = first { $0 != " " }
    return first == nil || first == "#"
  }
}
