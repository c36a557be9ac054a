public import KeyboardModes
public import KeymodeClient
public import Terminal
import Wire

/// The line that a status bar shows. While the states are unknown, it is empty.
public struct StatusLine: Sendable {
  private let format: StatusFormat
  private let isForWaybar: Bool
  private var states: [Machine: String] = [:]
  private var last: TerminalText?
  private let machines: [Machine]
  private var step = StatusStep()
  /// The daemon's clock minus `CLOCK_BOOTTIME`; not 0 if the daemon plays a recording.
  private var offset: Int64 = 0

  /// A line in this format.
  ///
  /// - Parameters:
  ///   - machines: the machines whose last change is shown.
  ///   - isForWaybar: whether to print it as JSON, for a custom module of Waybar.
  public init(
    _ format: StatusFormat, of machines: [Machine] = Machine.allCases, isForWaybar: Bool
  ) {
    (self.format, self.machines, self.isForWaybar) = (format, machines, isForWaybar)
  }

  /// Takes an update that arrived at `now`.
  ///
  /// - Returns: the line, if it differs from the last one.
  public mutating func take(_ update: Update, at now: Moment = .now) -> TerminalText? {
    switch update {
    case .states(let state):
      for machine in Machine.allCases { states[machine] = state.modes[machine] }
      offset = state.time.microseconds &- now.boot
      let entered = machines.compactMap { state.modes.since($0)?.microseconds }.max()
      step = StatusStep(since: entered.map { now.clock(at: $0 &- offset).text } ?? "")
    case .change(let change):
      // After a new connection, changes come before the states; until then one state is unknown.
      guard !states.isEmpty else { return nil }
      states[change.machine] = change.to
      if machines.contains(change.machine) {
        let time = min(change.time.microseconds &- offset, now.boot)
        step = StatusStep(event: change.event, from: change.from, since: now.clock(at: time).text)
      }
    case .missed: return nil
    case .disconnected: (states, step) = ([:], StatusStep())
    }
    let next = text
    guard next != last else { return nil }
    last = next
    return next
  }

  private var text: TerminalText {
    let shown = states.isEmpty ? "" : format.text(states, step)
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

/// The last step that a status bar can show: its event, the state that it left, and the time of day at
/// which it was made. Of a step before the connection only the time is known, if there was one.
struct StatusStep: Sendable {
  var event = ""
  var from = ""
  var since = ""
}

/// A user's text with placeholders: `{shift}` and `{keyboard}` for states, `{event}`, `{from}` and
/// `{since}` for the last step. `{{` and `}}` are braces.
public struct StatusFormat: Sendable {
  private enum Part: Sendable {
    case text(String)
    case state(Machine)
    case step(@Sendable (StatusStep) -> String)

    init?(placeholder name: Substring) {
      switch name {
      case "event": self = .step { $0.event }
      case "from": self = .step { $0.from }
      case "since": self = .step { $0.since }
      default:
        guard let machine = Machine(rawValue: String(name)) else { return nil }
        self = .state(machine)
      }
    }
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
          let part = Part(placeholder: rest[..<end].dropFirst())
        else {
          throw UsageError(
            """
            invalid '{' in the format; use {shift}, {keyboard}, {event}, {from}, {since}, or {{ for a \
            brace
            """)
        }
        parts.append(part)
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
  func text(_ states: [Machine: String], _ step: StatusStep = StatusStep()) -> TerminalText {
    parts.map { part in
      switch part {
      case .text(let text): TerminalText(verbatim: text)
      case .state(let machine): "\(states[machine] ?? "")"
      case .step(let text): "\(text(step))"
      }
    }.joined()
  }
}
