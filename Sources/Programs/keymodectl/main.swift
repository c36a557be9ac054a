import Configuration
import Glibc
import KeymodeClient
import Recordings
import System
import Terminal
import Wire

/// Runs the command that the arguments name.
func run() throws -> Int32 {
  let arguments = try Arguments.ofThisProgram()
  let name = arguments.operands.first
  if arguments.has("--help") || name == "help" { return try help(arguments) }
  if arguments.has("--version") {
    try Output.print("keymodectl \(keymodedVersion)")
    return ExitStatus.done
  }
  guard let name else {
    // A script that lost its command must not go on as if it had succeeded.
    writeToStandardError("\(helpText)\n")
    return ExitStatus.usage
  }
  if name == "__names" { return try names(arguments) }
  let command = try Command(named: name)
  try arguments.check(for: name)
  let invocation = try Invocation(arguments)
  if command.operands.isEmpty, !invocation.operands.isEmpty {
    throw UsageError("\(name) takes no operand")
  }
  return try command.run(invocation)
}

/// The command that the first argument names, if any; not `help`, whose own help says little.
func firstCommand() -> String? {
  let first = CommandLine.arguments.dropFirst().first
  return first == "help" ? nil : commands.first { $0.name == first }?.name
}

// Writing to a reader that has gone fails with `EPIPE` instead of ending the program.
signal(SIGPIPE, SIG_IGN)
reserveStandardStreams()
let status: Int32
do {
  status = try run()
} catch let error as UsageError {
  printUsageError(error, of: firstCommand())
  status = ExitStatus.usage
} catch let error as ClientError {
  printToStandardError(explained(error))
  switch error {
  case .noDaemon, .noAnswer, .connectionLost: status = ExitStatus.noDaemon
  case .permissionDenied, .refused(name: "org.varlink.service.PermissionDenied", _):
    status = ExitStatus.permissionDenied
  case .badReply, .refused, .failed, .cancelled: status = ExitStatus.failed
  }
} catch let errors as ConfigurationErrors {
  printToStandardError(errors, isLocated: errors.errors.first?.mark != nil)
  status = ExitStatus.badInput
} catch let error as RecordingError {
  printToStandardError(error, isLocated: error.line != nil)
  status = ExitStatus.badInput
} catch  where Output.hasNoReader(error) {
  status = ExitStatus.done
} catch {
  printToStandardError("\(error)")
  status = ExitStatus.failed
}
exit(status)
