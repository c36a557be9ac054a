import JSON
import KeyboardModes
public import KeymodeClient
public import SystemCalls

/// The line that a status bar shows. While the states are unknown, it is empty.
public struct StatusLine: Sendable {
  private let format: StatusFormat
  private let isForWaybar: Bool
  private var states: [Machine: String] = [:]
  private var last: TerminalText?

  /// A line in this format.
  ///
  /// - Parameter isForWaybar: whether to print it as JSON, for a custom module of Waybar.
  public init(_ format: StatusFormat, isForWaybar: Bool) {
    self.format = format
    self.isForWaybar = isForWaybar
  }

  /// Takes an update.
  ///
  /// - Returns: the line, if it differs from the last one.
  public mutating func take(_ update: Update) -> TerminalText? {
    switch update {
    case .states(let state):
      for machine in Machine.allCases { states[machine] = state.modes[machine] }
    case .change(let change):
      // After a new connection, changes come before the states; until then one state is unknown.
      guard !states.isEmpty else { return nil }
      states[change.machine] = change.to
    case .missed: return nil
    case .disconnected: states = [:]
    }
    let next = text
    guard next != last else { return nil }
    last = next
    return next
  }

  private var text: TerminalText {
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
