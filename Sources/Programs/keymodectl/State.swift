import KeyboardModes
import KeymodeClient
import Session
import Terminal
import Wire

/// `keymodectl state [MACHINE]`: prints the states, or one of them.
func state(_ invocation: Invocation) throws -> Int32 {
  let operands = invocation.operands
  guard operands.count <= 1 else { throw UsageError("state takes one machine at most") }
  let machine = try operands.first.map(MachineName.init(argument:))
  let state = try invocation.daemon.ask(.state)
  if let machine {
    let name = try state.states.state(of: machine)
    try Output.print("\(name)", json: invocation.asJSON ? name : nil)
  } else {
    try Output.print(state.states.table, json: invocation.asJSON ? state : nil)
  }
  return ExitStatus.done
}

extension States {
  /// The states, a line each, without the locks that are unknown.
  var table: TerminalText {
    let shown = shownMachines(withLocks: .off, .on)
    let width = max(10, 2 + (shown.map(\.rawValue.count).max() ?? 0))
    return shown.map { "\(padded($0.rawValue, width))\(self[$0] ?? "")" }.joined(separator: "\n")
  }
}
