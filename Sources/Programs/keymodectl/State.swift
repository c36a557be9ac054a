import KeyboardModes
import KeymodeClient
import Session
import Terminal
import Wire

/// `keymodectl state [MACHINE]`: prints the states, or one of them.
func state(_ invocation: Invocation) throws -> Int32 {
  let operands = invocation.operands
  guard operands.count <= 1 else { throw UsageError("state takes one machine at most") }
  let machine = try operands.first.map(Machine.init(argument:))
  let state = try invocation.daemon.ask(.state)
  if let machine {
    let name = state.modes[machine]
    try Output.print("\(name)", json: invocation.asJSON ? name : nil)
  } else {
    try Output.print(state.modes.table, json: invocation.asJSON ? state : nil)
  }
  return ExitStatus.done
}

extension Modes {
  /// The states, a line each, without the locks that are unknown.
  var table: TerminalText {
    let shown = Machine.modes + locks(.off, .on)
    return shown.map { "\(padded($0.rawValue, 10))\(self[$0])" }.joined(separator: "\n")
  }
}
