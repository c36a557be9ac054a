import Acting
import KeyboardModes
import KeymodeClient
import Terminal
import Wire

/// `keymodectl state [shift|keyboard]`: prints the states, or one of them.
func state(_ invocation: Invocation) throws -> Int32 {
  let operands = invocation.operands
  guard operands.count <= 1 else { throw UsageError("state takes one machine at most") }
  let machine = try operands.first.map(Machine.init(argument:))
  let state = try invocation.daemon.ask(.state)
  if let machine {
    let name = state.modes[machine]
    Output.print("\(name)", json: invocation.asJSON ? name : nil)
  } else {
    Output.print(state.modes.table, json: invocation.asJSON ? state : nil)
  }
  return ExitStatus.done
}

extension Modes {
  /// Both states, a line each.
  var table: TerminalText { "shift     \(shift)\nkeyboard  \(keyboard)" }
}
