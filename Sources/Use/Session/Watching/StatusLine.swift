public import KeyboardModes
public import KeymodeClient
public import Terminal
import Wire

/// The line that a status bar shows. Its text is empty while there is no daemon, and `disconnected` if
/// there are no states for another reason, such as for lack of permission.
public struct StatusLine: Sendable {
  private let format: StatusFormat
  private let isForWaybar: Bool
  /// The last known states; empty while they are unknown.
  private var states: [Machine: String] = [:]
  /// The text and the tooltip while they are unknown.
  private var absence = (text: "", tooltip: "no keymoded")
  private var last: TerminalText?
  /// The machines on whose changes the line depends.
  public let followed: Set<Machine>

  /// A line in this format.
  ///
  /// - Parameters:
  ///   - machines: the machines that it is about, if the format names none or it is for Waybar.
  ///   - isForWaybar: whether to print it as JSON, for a custom module of Waybar. It has the states
  ///     of all machines, or only of a lock if the line is about nothing else.
  public init(
    _ format: StatusFormat, of machines: [Machine] = Machine.modes, isForWaybar: Bool
  ) {
    (self.format, self.isForWaybar) = (format, isForWaybar)
    var followed = format.machines
    if isForWaybar || followed.isEmpty { followed.formUnion(machines) }
    let isAboutAll = isForWaybar && !followed.isDisjoint(with: Machine.modes)
    self.followed = isAboutAll ? Set(Machine.allCases) : followed
  }

  /// Takes an update, and returns the line if it differs from the last one.
  public mutating func take(_ update: Update) -> TerminalText? {
    switch update {
    case .states(let state):
      for machine in Machine.allCases { states[machine] = state.modes[machine] }
    case .change(let change):
      // On a new connection, changes may come first: the other machines' states are unknown yet.
      guard !states.isEmpty else { return nil }
      states[change.machine] = change.to
    case .missed: return nil
    case .disconnected(let reason):
      states = [:]
      switch reason {
      case .noDaemon, .connectionLost, .noAnswer: absence = ("", "no keymoded")
      case .permissionDenied, .badReply, .refused, .failed, .cancelled:
        absence = ("disconnected", "\(reason)")
      }
    }
    let next = text
    guard next != last else { return nil }
    last = next
    return next
  }

  private var text: TerminalText {
    let line = states.isEmpty ? "\(absence.text)" : format.text(states)
    guard isForWaybar else { return line }
    let text = line.description
    // Waybar's custom modules, with "return-type": "json". `alt` chooses among "format-icons".
    func isLock(_ machine: Machine) -> Bool { !Machine.modes.contains(machine) }
    let present = Machine.allCases.compactMap { machine in
      followed.contains(machine) ? states[machine].map { (machine, $0) } : nil
    }
    let tooltip = present.compactMap { machine, state -> String? in
      state == LockRules.State.unknown.rawValue && isLock(machine)
        ? nil : "\(machine.rawValue): \(state)"
    }
    let classes = present.compactMap { machine, state -> String? in
      guard isLock(machine) else { return state }
      return state == LockRules.State.on.rawValue ? "\(machine.rawValue)-on" : nil
    }
    let json: JSON = [
      "text": .string(text),
      "alt": .string(states.isEmpty ? "disconnected" : text),
      "tooltip": .string(states.isEmpty ? absence.tooltip : tooltip.joined(separator: "\n")),
      "class": .array((states.isEmpty ? ["disconnected"] : classes).map(JSON.string)),
    ]
    return "\(json.text)"
  }
}

/// A user's text with placeholders for states: `{shift}`, `{keyboard}`, `{caps}` and `{num}`. `{{`
/// and `}}` are braces.
public struct StatusFormat: Sendable {
  private enum Part: Sendable {
    case text(String)
    case state(of: Machine)
  }

  private var parts: [Part] = []

  /// The machines whose states are in the text.
  var machines: Set<Machine> {
    Set(parts.compactMap { if case .state(let machine) = $0 { machine } else { nil } })
  }

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
        let name = String(rest.dropFirst().prefix { $0 != "}" })
        let usage: TerminalText = "use {shift}, {keyboard}, {caps}, {num}, or {{ for a brace"
        guard let end = rest.firstIndex(of: "}"), !name.isEmpty else {
          throw UsageError("invalid '{' in the format; \(usage)")
        }
        guard let machine = Machine(rawValue: name) else {
          let meant = nearest(to: name, among: Machine.allCases.map(\.rawValue))
          let hint: TerminalText = meant.map { "did you mean {\($0)}?" } ?? usage
          throw UsageError("unknown {\(name)} in the format; \(hint)")
        }
        parts.append(.state(of: machine))
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
