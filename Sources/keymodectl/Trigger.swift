import CommandLineTools
import JSON
import KeyboardModes
import KeymodeClient
import KeymodeInterface
import KeymodedConfiguration
import SystemCalls
import Watching

/// `keymodectl trigger EVENT`: sends an event instead of a key.
func trigger(_ operands: [String], _ daemon: DaemonAddress, asJSON: Bool) throws -> Int32 {
  guard operands.count == 1 else { throw UsageError("trigger takes one event") }
  let connection = try daemon.connect()
  let reply: TriggerMessage
  do {
    reply = try connection.trigger(operands[0])
  } catch {
    guard case .refused(name: "org.varlink.service.InvalidParameter", _) = error else {
      throw error
    }
    // The daemon's configuration decides which events the keyboard has.
    let machines = try connection.machines()
    let names = machines.flatMap { machine in
      machine.name == Machine.shift.rawValue ? ClientEvent.namesForShift : machine.events
    }
    var confusion: TerminalText = ""
    if machines.contains(where: { $0.states.contains(operands[0]) }) {
      confusion = ", which is a state"
    } else if Chord(written: operands[0]) != nil {
      confusion = ", which is a key; keys are bound to events in \(Configuration.systemPath)"
    }
    throw UsageError(
      """
      unknown event '\(operands[0])'\(confusion); \
      \(hint(operands[0], "events", names))
      """)
  }
  Output.print(reply.state.modes.table, json: asJSON ? reply : nil)
  if !reply.changed, !asJSON {
    let machine: Machine = ClientEvent.namesForShift.contains(operands[0]) ? .shift : .keyboard
    complain("ignored: nothing happens on \(operands[0]) in \(reply.state.modes[machine])")
  }
  return reply.changed ? 0 : ExitStatus.no
}
