import CommandLineTools
import JSON
import KeyboardModes
import KeymodeClient
import SystemCalls
import Watching

/// `keymodectl state [shift|keyboard]`: prints the states, or one of them.
func state(_ operands: [String], _ daemon: DaemonAddress, asJSON: Bool) throws -> Int32 {
  guard operands.count <= 1 else { throw UsageError("state takes one machine at most") }
  let machine = try operands.first.map(Machine.init(argument:))
  let state = try daemon.connectForReading().state()
  if let machine {
    Output.print("\(state.modes[machine])", json: asJSON ? state.modes[machine] : nil)
  } else {
    Output.print(state.modes.table, json: asJSON ? state : nil)
  }
  return 0
}

extension Modes {
  /// Both states, a line each.
  var table: TerminalText { "shift     \(shift)\nkeyboard  \(keyboard)" }
}
