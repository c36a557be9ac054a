import KeyboardModes
public import SystemCalls

/// A user's text with placeholders for states: `{shift}` and `{keyboard}`. `{{` and `}}` are braces.
public struct StatusFormat: Sendable {
  private enum Part: Sendable {
    case text(String)
    case state(Machine)
  }

  private var parts: [Part] = []

  /// Reads a format.
  ///
  /// - Throws: `UsageError` for an unknown placeholder or a single brace.
  public init(_ format: String) throws(UsageError) {
    var rest = format[...]
    while let first = rest.first {
      if rest.hasPrefix("{{") || rest.hasPrefix("}}") {
        parts.append(.text(String(first)))
        rest = rest.dropFirst(2)
      } else if first == "{" {
        guard let end = rest.firstIndex(of: "}"),
          let machine = Machine(rawValue: String(rest[..<end].dropFirst()))
        else {
          throw UsageError("invalid '{' in the format; use {shift}, {keyboard}, or {{ for a brace")
        }
        parts.append(.state(machine))
        rest = rest[end...].dropFirst()
      } else if first == "}" {
        throw UsageError("invalid '}' in the format; use }} for a brace")
      } else {
        let text = rest.prefix { $0 != "{" && $0 != "}" }
        parts.append(.text(String(text)))
        rest = rest[text.endIndex...]
      }
    }
  }

  /// The text with these states. The text around them is not escaped: the user may want colours.
  func text(_ states: [Machine: String]) -> TerminalText {
    parts.map { part in
      switch part {
      case .text(let text): TerminalText(verbatim: text)
      case .state(let machine): "\(states[machine] ?? "")"
      }
    }.joined()
  }
}
