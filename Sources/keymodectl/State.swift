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
  var output = Output.standard()
  switch (machine, asJSON) {
  case (nil, true): output.line(json: state)
  case (nil, false): output.line(state.modes.table)
  case (let machine?, true): output.line(json: state.modes[machine])
  case (let machine?, false): output.line("\(state.modes[machine])")
  }
  output.flush()
  return 0
}

extension Modes {
  /// Both states, a line each.
  var table: TerminalText { "shift     \(shift)\nkeyboard  \(keyboard)" }
}
