import CommandLineTools
import JSON
import KeyboardModes
import KeymodeClient
import KeymodeInterface
import SystemCalls

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
    let names = try connection.machines().flatMap { machine in
      machine.name == Machine.shift.rawValue ? ClientEvent.namesForShift : machine.events
    }
    throw UsageError("unknown event '\(operands[0])'; the events are\n\(wrapped(names))")
  }
  Output.print(reply.state.modes.table, json: asJSON ? reply : nil)
  return reply.changed ? 0 : ExitStatus.no
}
