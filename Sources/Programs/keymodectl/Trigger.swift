import KeyboardModes
import KeymodeClient
import Session
import System
import Terminal
import Wire

/// `keymodectl trigger EVENT`: sends an event instead of a key.
func trigger(_ invocation: Invocation) throws -> Int32 {
  guard invocation.operands.count == 1 else {
    throw UsageError("trigger takes one event, such as tapTextField or talk.press")
  }
  let (event, daemon) = (invocation.operands[0], invocation.daemon)
  let reply: TriggerMessage
  do throws(ClientError) {
    // The daemon ends a connection that sends too long a call.
    guard event.utf8.count <= 2 * CompiledTable.maxNameBytes + 1 else {
      throw .refused(name: invalidParameter, parameters: .null)
    }
    reply = try daemon.ask(.trigger(event))
  } catch {
    guard case .refused(name: invalidParameter, _) = error else { throw error }
    // The daemon's configuration decides which events there are.
    let events = try daemon.ask(.machines).flatMap(\.clientEventNames)
    let shown = event.count <= 64 ? event : event.prefix(63) + Sign.ellipsis
    throw UsageError("unknown event '\(shown)'; \(suggestion(for: event, among: events))")
  }
  try Output.print(reply.state.states.table, json: invocation.asJSON ? reply : nil)
  if !reply.changed, !invocation.asJSON {
    let shipped: MachineName = ClientEvent.namesForShift.contains(event) ? .shift : .keyboard
    let state = try reply.state.states.state(of: ClientEvent.parts(of: event).own ?? shipped)
    printToStandardError("ignored: nothing happens on \(event) in \(state)")
  }
  return reply.changed ? 0 : ExitStatus.failed
}

private let invalidParameter = "org.varlink.service.InvalidParameter"
