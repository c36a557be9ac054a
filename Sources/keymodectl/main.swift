import CommandLineTools
import EventRecordings
import Glibc
import KeymodeClient
import KeymodeInterface
import KeymodedConfiguration
import MainThread
import SystemCalls

/// Runs the command that the arguments name. All commands but `watch` and those that act stay on the
/// main thread: a signal that a command blocks there is blocked for the whole program, and no thread
/// has to start.
@MainActor
func run() async throws -> Int32 {
  let arguments = try Arguments.ofThisProgram()
  let name = arguments.paths.first?.text
  if arguments.has("--help") || arguments.has("--version") || name == "help" {
    let asksForHelp = arguments.has("--help") || name == "help"
    Output.print(asksForHelp ? try helpText(for: arguments) : "keymodectl \(keymodedVersion)")
    return ExitStatus.done
  }
  guard let name else {
    // A script that lost its command must not go on as if it had succeeded.
    writeToStandardError("\(help)\n")
    return ExitStatus.usage
  }
  if name == "__names" {
    let directory = Connection.directory(arguments["--socket-dir"])
    return names(Array(arguments.operands.dropFirst()), directory: directory, arguments)
  }
  let command = try command(named: name).name
  try arguments.check(for: command)
  if command == "replay" { return try replay(arguments.paths.dropFirst(), arguments) }
  let operands = Array(arguments.operands.dropFirst())
  let timeout = try arguments["--timeout"].map(microseconds).map(Duration.microseconds)
  // For `wait` it means to check the present states; other commands could not get an answer.
  if timeout == .zero, command != "wait" { throw UsageError("'--timeout 0' works only with wait") }
  let directory = Connection.directory(arguments["--socket-dir"])
  let daemon = DaemonAddress(directory, timeout: timeout)
  let asJSON = arguments.has("--json")
  switch command {
  case "state": return try state(operands, daemon, asJSON: asJSON)
  case "watch": return try await watch(operands, directory: directory, arguments)
  case "while":
    let count = arguments.afterDashes?.count ?? 0
    return try await runWhile(Array(operands.dropLast(count)), directory: directory, arguments)
  case "wait":
    return try await wait(
      operands, of: Client(directory: directory), timeout: timeout,
      mayWait: !arguments.has("--no-wait"))
  case "devices": return try devices(operands, daemon, asJSON: asJSON)
  case "stats": return try stats(operands, daemon, asJSON: asJSON)
  case "trigger": return try trigger(operands, daemon, asJSON: asJSON)
  case "targets": return try await targets(operands, directory: directory, arguments)
  case "graph": return try graph(operands, daemon, arguments)
  case "record": return try record(operands, arguments)
  case "keys": return try keys(operands, arguments)
  default: throw UsageError("unknown command '\(command)'")
  }
}

/// The command that the first argument names, if it does; not `help`, whose own help says little.
@MainActor
func firstCommand() -> String? {
  let first = CommandLine.arguments.dropFirst().first
  return first == "help" ? nil : commands.first { $0.name == first }?.name
}

// Writing to a reader that has gone fails with `EPIPE` instead of ending the program.
signal(SIGPIPE, SIG_IGN)
reserveStandardStreams()
// The Swift runtime ends a program by SIGILL where it cannot open what it needs itself.
if descriptorLimit() < 16 {
  complain("only \(descriptorLimit()) files may be open at once; 16 are needed: see 'ulimit -n'")
  exit(ExitStatus.no)
}
MainThread.runAllTasks()
let status: Int32
do {
  status = try await run()
} catch let error as UsageError {
  complain(error, about: firstCommand())
  status = ExitStatus.usage
} catch let error as ClientError {
  complain(explained(error))
  switch error {
  case .noDaemon, .noAnswer, .connectionLost: status = ExitStatus.noDaemon
  case .permissionDenied, .refused(name: "org.varlink.service.PermissionDenied", _):
    status = ExitStatus.permissionDenied
  case .badReply, .refused, .failed, .cancelled: status = ExitStatus.no
  }
} catch  where error is ConfigurationErrors || error is RecordingError {
  writeToStandardError("\(error)\n")
  status = ExitStatus.badInput
} catch {
  complain("\(error)")
  status = ExitStatus.no
}
exit(status)
