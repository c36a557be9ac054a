import KeyboardModes
import KeymodeClient
import KeymodedConfiguration
import StateMachines
import SystemCalls

/// `keymodectl graph shift|keyboard`: the diagram of a machine, computed from its rules.
func graph(_ operands: [String], _ arguments: Arguments) throws -> Int32 {
  guard operands.count == 1 else { throw UsageError("graph takes one machine: shift or keyboard") }
  let machine = try machine(operands[0])
  let format = arguments["--format"] ?? "dot"
  guard ["dot", "mermaid"].contains(format) else {
    throw UsageError("unknown format '\(format)': it is dot or mermaid")
  }
  let settings =
    try arguments["--config"].map { try Configuration.load($0) }?.settings ?? Settings()
  let current =
    arguments.has("--current")
    ? try connectForReading(Connection.directory(arguments["--socket-dir"])).state().modes[machine]
    : nil
  let diagram =
    switch machine {
    case .shift: Diagram(of: settings.shift, current: current)
    case .keyboard: Diagram(of: settings.keyboard, current: current)
    }
  print(format == "dot" ? diagram.dot : diagram.mermaid, terminator: "")
  return 0
}
