public import KeyboardModes
public import KeymodeClient
public import Terminal
import Wire

/// The line that a status bar shows. Its text is empty while there is no daemon, and `disconnected`
/// if there are no states for another reason, such as lack of permission.
public struct StatusLine: Sendable {
  private let format: StatusFormat
  private let isForWaybar: Bool
  /// The present states; `nil` while they are unknown.
  private var states: States?
  /// The text and the tooltip while the states are unknown.
  private var absence = (text: "", tooltip: "no keymoded")
  private var lastLine: TerminalText?
  /// The machines whose changes can change the line; `nil` for all.
  public let followed: Set<MachineName>?

  /// A line in this format.
  ///
  /// - Parameters:
  ///   - machines: the machines of the line, if the format names none or the line is for Waybar.
  ///   - isForWaybar: whether the line is JSON, for a custom module of Waybar. The JSON has the
  ///     states of all machines, or only of locks if the line is about nothing else.
  public init(
    _ format: StatusFormat, of machines: [MachineName] = StatusLine.defaultMachines,
    isForWaybar: Bool
  ) {
    (self.format, self.isForWaybar) = (format, isForWaybar)
    var followed = format.machines
    if isForWaybar || followed.isEmpty { followed.formUnion(machines) }
    let isAboutAll = isForWaybar && followed.contains { !$0.isLock }
    self.followed = isAboutAll ? nil : followed
  }

  /// The machines that a line without a format is about.
  public static let defaultMachines: [MachineName] = [.shift, .keyboard]

  /// Handles an update, and returns the line if it differs from the last one.
  public mutating func handle(_ update: Update) -> TerminalText? {
    switch update {
    case .states(let state): states = state.states
    // On a new connection, changes may come first: the other machines' states are still unknown.
    case .change(let change):
      guard states != nil else { return nil }
      states?.apply(change)
    case .missed: return nil
    case .disconnected(let reason):
      states = nil
      switch reason {
      case .noDaemon, .connectionLost, .noAnswer: absence = ("", "no keymoded")
      case .permissionDenied, .badReply, .refused, .failed, .cancelled:
        absence = ("disconnected", "\(reason)")
      }
    }
    let next = text
    guard next != lastLine else { return nil }
    lastLine = next
    return next
  }

  private var text: TerminalText {
    let line = states.map(format.text) ?? "\(absence.text)"
    guard isForWaybar else { return line }
    let text = line.description
    // The JSON is for custom modules of Waybar that have "return-type": "json". `alt` chooses among
    // their "format-icons".
    let shown = (states?.entries ?? []).filter { followed?.contains($0.machine) ?? true }
    let tooltip = shown.filter {
      !$0.machine.isLock || $0.state != LockRules.State.unknown.rawValue
    }.map { "\($0.machine): \($0.state)" }
    let classes = shown.compactMap { entry -> String? in
      if entry.machine.isLock, entry.state != LockRules.State.on.rawValue { return nil }
      // Shift and the keyboard need no prefix: their states have different names.
      return Self.defaultMachines.contains(entry.machine)
        ? entry.state : "\(entry.machine)-\(entry.state)"
    }
    let json: JSON = [
      "text": .string(text),
      "alt": .string(states == nil ? "disconnected" : text),
      "tooltip": .string(states == nil ? absence.tooltip : tooltip.joined(separator: "\n")),
      "class": .array((states == nil ? ["disconnected"] : classes).map(JSON.string)),
    ]
    return "\(json.text)"
  }
}

/// A user's text with placeholders for states: `{shift}`, `{keyboard}`, `{caps}`, `{num}`, and the
/// names of the user's own machines. `{{` and `}}` are braces.
public struct StatusFormat: Sendable {
  private enum Part: Sendable {
    case text(String)
    case state(of: MachineName)
  }

  private var parts: [Part] = []

  /// The machines whose states are in the text.
  public var machines: Set<MachineName> {
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
        let machine = MachineName(rawValue: name)
        guard machine.isValidName else {
          throw UsageError(
            "unknown {\(name)} in the format; \(Self.hint(name, MachineName.shipped.map(\.rawValue)) ?? usage)"
          )
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

  /// Checks the placeholders against the known machines. A configuration may add machines.
  ///
  /// - Throws: `UsageError` for a placeholder that seems to be misspelt.
  public func checkMachines(among known: [String]) throws(UsageError) {
    for machine in machines.sorted() where !known.contains(machine.rawValue) {
      guard let hint = Self.hint(machine.rawValue, known) else { continue }
      throw UsageError("unknown {\(machine)} in the format; \(hint)")
    }
  }

  private static func hint(_ name: String, _ known: [String]) -> TerminalText? {
    nearest(to: name, among: known).map { "did you mean {\($0)}?" }
  }

  /// The text with these states. The text around them is not escaped: the user may want colours.
  func text(_ states: States) -> TerminalText {
    parts.map { part in
      switch part {
      case .text(let text): TerminalText(verbatim: text)
      case .state(let machine): "\(states[machine] ?? "")"
      }
    }.joined()
  }
}
