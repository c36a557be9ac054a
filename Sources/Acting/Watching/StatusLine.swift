public import KeyboardModes
public import KeymodeClient
public import Terminal
import Wire

/// The line that a status bar shows. While the states are unknown, it is empty.
public struct StatusLine: Sendable {
  private let format: StatusFormat
  private let isForWaybar: Bool
  private var shown = ShownStates()
  private var last: TerminalText?
  private let machines: [Machine]
  /// The machines on whose changes the line depends.
  public let followed: Set<Machine>
  /// The last step: its event, the state that it left, and the time of day at which it was made. Of
  /// a step before the connection only the time is known, if there was one.
  private var step: [String: String] = [:]

  /// A line in this format.
  ///
  /// - Parameters:
  ///   - machines: the machines whose last change is shown.
  ///   - isForWaybar: whether to print it as JSON, for a custom module of Waybar. It has the states
  ///     of all machines, or only of a lock if the line is about nothing else.
  public init(
    _ format: StatusFormat, of machines: [Machine] = Machine.modes, isForWaybar: Bool
  ) {
    (self.format, self.machines, self.isForWaybar) = (format, machines, isForWaybar)
    var followed = format.machines
    if format.hasStep || followed.isEmpty { followed.formUnion(machines) }
    if isForWaybar { followed.formUnion(machines) }
    let isAboutAll = isForWaybar && !followed.isDisjoint(with: Machine.modes)
    self.followed = isAboutAll ? Set(Machine.allCases) : followed
  }

  /// Takes an update that arrived at `now`.
  ///
  /// - Returns: the line, if it differs from the last one.
  public mutating func take(_ update: Update, at now: Moment = .now) -> TerminalText? {
    switch update {
    case .states(let state):
      shown.take(state, at: now)
      let entered = machines.compactMap { shown.since[$0] }.max()
      step = ["since": entered.map { now.clock(at: $0).text } ?? ""]
    case .change(let change):
      // After a new connection, changes come before the states; until then one state is unknown.
      guard !shown.states.isEmpty else { return nil }
      shown.take(change, at: now)
      if machines.contains(change.machine), let time = shown.since[change.machine] {
        step = ["event": change.event, "from": change.from, "since": now.clock(at: time).text]
      }
    case .missed: return nil
    case .disconnected: (shown, step) = (ShownStates(), [:])
    }
    let next = text
    guard next != last else { return nil }
    last = next
    return next
  }

  private var text: TerminalText {
    let states = shown.states
    let values = step.merging(states.map { ($0.rawValue, $1) }) { $1 }
    let line = states.isEmpty ? "" : format.text(values)
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
      "tooltip": .string(states.isEmpty ? "no keymoded" : tooltip.joined(separator: "\n")),
      "class": .array((states.isEmpty ? ["disconnected"] : classes).map(JSON.string)),
    ]
    return "\(json.text)"
  }
}

/// A user's text with placeholders: `{shift}`, `{keyboard}`, `{caps}` and `{num}` for states,
/// `{event}`, `{from}` and `{since}` for the last step. `{{` and `}}` are braces.
public struct StatusFormat: Sendable {
  private enum Part: Sendable {
    case text(String)
    case value(of: String)
  }

  private static let stepNames = ["event", "from", "since"]
  private static let placeholders = Machine.allCases.map(\.rawValue) + stepNames

  private var parts: [Part] = []

  /// The machines whose states are in the text.
  var machines: Set<Machine> { Set(names.compactMap(Machine.init(rawValue:))) }

  /// Whether something of the last step is in the text.
  var hasStep: Bool { names.contains(where: Self.stepNames.contains) }

  private var names: [String] {
    parts.compactMap { if case .value(let name) = $0 { name } else { nil } }
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
        guard let end = rest.firstIndex(of: "}"), Self.placeholders.contains(name) else {
          throw UsageError(
            """
            invalid '{' in the format; use {shift}, {keyboard}, {caps}, {num}, {event}, {from}, {since}, \
            or {{ for a brace
            """)
        }
        parts.append(.value(of: name))
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

  /// The text with these values of placeholders. The text around them is not escaped: the user may
  /// want colours.
  func text(_ values: [String: String]) -> TerminalText {
    parts.map { part in
      switch part {
      case .text(let text): TerminalText(verbatim: text)
      case .value(let name): "\(values[name] ?? "")"
      }
    }.joined()
  }
}
