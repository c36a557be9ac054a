import Configuration
import KeyboardModes
import KeymodeClient
import Session
import StateMachines
import Terminal
import Wire

/// `keymodectl graph MACHINE`: prints the diagram of a machine, computed from its rules.
func graph(_ operands: [String], _ address: DaemonAddress, _ arguments: Arguments) throws -> Int32 {
  guard operands.count == 1 else {
    throw UsageError("graph takes one machine, such as shift or keyboard")
  }
  let machine = try MachineName(argument: operands[0])
  let format = arguments["--format"] ?? "dot"
  guard let language = languages[format] else {
    throw UsageError(
      "unknown format '\(format)'; \(suggestion(for: format, among: languages.keys.sorted()))")
  }
  let daemon = arguments.has("--current") ? address : nil
  let file = arguments["--config"]
  let machines =
    if let daemon, file == nil {
      try daemon.ask(.machines)
    } else {
      MachineMessage.all(of: try configuration(arguments).settings)
    }
  guard let message = machines.first(where: { $0.name == machine.rawValue }) else {
    throw UsageError(unknown: machine, among: machines.map(\.name))
  }
  var diagram = Diagram(message)
  if let daemon {
    let state = try daemon.ask(.state).states.state(of: machine)
    guard diagram.states.contains(state) else {
      let rules = file.map { "'\($0)'" } ?? "its own list of states"
      printToStandardError("keymoded is in the state '\(state)', which is missing in \(rules)")
      return ExitStatus.failed
    }
    diagram.current = state
  }
  let lines = diagram[keyPath: language].split(separator: "\n")
  try Output.print(lines.map { "\($0)" }.joined(separator: "\n"))
  return 0
}

/// The languages of diagrams, by their names in `--format`.
private var languages: [String: KeyPath<Diagram, String>] {
  ["dot": \.dot, "mermaid": \.mermaid]
}
