import JSON
import KeyboardModes
import SystemCalls

/// A text with places for states: `{shift}` and `{keyboard}`. `{{` and `}}` are braces.
struct StatusFormat {
  private enum Part {
    case text(String)
    case state(Machine)
  }

  private var parts: [Part] = []

  /// Reads a format.
  init(_ format: String) throws(UsageError) {
    var rest = format[...]
    while let first = rest.first {
      if rest.hasPrefix("{{") || rest.hasPrefix("}}") {
        parts.append(.text(String(first)))
        rest = rest.dropFirst(2)
      } else if first == "{" {
        guard let end = rest.firstIndex(of: "}"),
          let machine = Machine(rawValue: String(rest[..<end].dropFirst()))
        else { throw UsageError("a format has {shift} and {keyboard}, and {{ for a brace") }
        parts.append(.state(machine))
        rest = rest[end...].dropFirst()
      } else if first == "}" {
        throw UsageError("a format has {shift} and {keyboard}, and }} for a brace")
      } else {
        let text = rest.prefix { $0 != "{" && $0 != "}" }
        parts.append(.text(String(text)))
        rest = rest[text.endIndex...]
      }
    }
  }

  /// The text with these states. What is around them is the user's, who may want it in colour.
  func text(_ states: [Machine: String]) -> TerminalText {
    parts.map { part in
      switch part {
      case .text(let text): TerminalText(verbatim: text)
      case .state(let machine): "\(states[machine] ?? "")"
      }
    }.joined()
  }
}

/// What a status bar is told. Without states, because nobody knows them, it shows nothing.
struct StatusLine {
  private let format: StatusFormat
  private let isForWaybar: Bool

  init(_ format: StatusFormat, isForWaybar: Bool) {
    self.format = format
    self.isForWaybar = isForWaybar
  }

  func text(_ states: [Machine: String]) -> TerminalText {
    let shown = states.isEmpty ? "" : format.text(states)
    guard isForWaybar else { return shown }
    let text = shown.description
    // Waybar's custom modules, with "return-type": "json". `alt` chooses among "format-icons".
    let tooltip = Machine.allCases.compactMap { machine in
      states[machine].map { "\(machine.rawValue): \($0)" }
    }
    let classes = Machine.allCases.compactMap { states[$0] }
    let line: JSON = [
      "text": .string(text),
      "alt": .string(states.isEmpty ? "disconnected" : text),
      "tooltip": .string(states.isEmpty ? "no keymoded" : tooltip.joined(separator: "\n")),
      "class": .array((states.isEmpty ? ["disconnected"] : classes).map(JSON.string)),
    ]
    return "\(line.text)"
  }
}
