import Glibc
import Session
import System
import Terminal

/// `keymodectl while MACHINE=STATE… -- COMMAND…`: runs a command while the machines are in these
/// states.
func runWhile(_ invocation: Invocation) throws -> Int32 {
  let arguments = invocation.arguments
  let command = arguments.operandsAfterDashes ?? []
  let operands = Array(invocation.operands.dropLast(command.count))
  // Checked first: without '--', the words of the command would be refused as conditions.
  if command.isEmpty, !operands.isEmpty {
    throw UsageError("while takes a command, after '--'")
  }
  guard let conditions = try StateConditions(operands) else {
    throw UsageError("while takes at least one MACHINE=STATE")
  }
  let grace = try arguments["--grace"].map(microseconds).map(Duration.microseconds)
  let isQuiet = arguments.has("--quiet") || isatty(STDERR_FILENO) == 0
  let runner = try WhileCommand(
    command, while: conditions, of: invocation.daemon.directory, runsOnce: arguments.has("--once"),
    requiresEntry: arguments.has("--anew"), on: .ofThisProgram(), notify: printToStandardError,
    progress: { if !isQuiet { printToStandardError($0) } }, explain: explained)
  let result = try runner.runUntilEnd(
    grace: grace ?? .seconds(3), anySession: invocation.anySession, mayWait: invocation.mayWait)
  switch result {
  case .command(let outcome): return outcome.exitStatus
  case .signal(let number):
    // SIGQUIT would dump the core of this program too. The command's core dump is enough.
    forbidMemoryDumps()
    Signals.applyDefaultAction(of: number)
    return 128 + number
  }
}
