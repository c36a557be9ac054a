import Acting
import CommandLineTools
import KeymodeClient
import SystemCalls
import Watching

/// `keymodectl while MACHINE=STATE… -- COMMAND…`: runs a command while the machines are in these
/// states.
@MainActor
func runWhile(
  _ operands: [String], directory: String, _ arguments: Arguments
) async throws -> Int32 {
  let command = arguments.afterDashes ?? []
  // Checked first: without '--', the words of the command would be refused as conditions.
  if command.isEmpty, !operands.isEmpty {
    throw UsageError("while takes a command, after '--'")
  }
  guard let conditions = try StateConditions(operands) else {
    throw UsageError("while takes at least one MACHINE=STATE")
  }
  let runner = try StateCommand(
    command, while: conditions, of: Client(directory: directory), grace: grace(arguments),
    isOnce: arguments.has("--once"), mayWait: !arguments.has("--no-wait"),
    session: session(arguments), notify: { complain($0) }, explain: explained)
  switch try await runner.run() {
  case .command(let outcome): return outcome.exitStatus
  case .error: return ExitStatus.no
  case .signal(let number):
    // The command's core dump, if any, is enough.
    forbidMemoryDumps()
    Signals.deliver(number)
    return 128 + number
  }
}

/// The time of `--grace`.
private func grace(_ arguments: Arguments) throws(UsageError) -> Duration {
  try arguments["--grace"].map(microseconds).map(Duration.microseconds) ?? .seconds(3)
}
