import Configuration
import Daemon
import Glibc
import Recordings
import System
import Terminal
import Wire

let help: TerminalText = """
  usage: keymoded [OPTION]...

  Keeps the states that a phone's chat program has, for physical keyboards, and
  publishes their changes on a socket. keymodectl shows them. Usually
  keymoded.service runs it.

    --config FILE       read FILE instead of \(Configuration.systemPath), and then
                        FILE.d/*.yaml
    --check             only check the configuration, and print its errors
    --print-config      only print the configuration: every setting, and which
                        file it is from
    --device PATH       follow this device instead of all keyboards; may be
                        repeated
    --recording FILE    play a recording instead of devices
    --speed X           play the recording X times as fast, from 0.001 to 1000;
                        'max' plays it without waiting
    --socket-dir DIR    create the sockets in DIR; by default in /run/keymoded for
                        root and $XDG_RUNTIME_DIR/keymoded for other users
    -V, --version       print the version
    -h, --help          print this summary

  Exit status: 0 done or ended by a signal; 1 the system refused an operation;
  2 wrong usage; 4 invalid configuration or recording. On SIGHUP the daemon reads
  its configuration again.
  """

/// Does what the arguments ask for: usually, runs the daemon until a signal ends it.
func run() throws {
  let arguments = try Arguments(
    try commandLine(), flags: ["--check", "--print-config", "--version", "--help"],
    options: ["--config", "--recording", "--speed", "--socket-dir"], repeatable: ["--device"],
    short: ["-h": "--help", "-V": "--version"])
  if arguments.has("--help") { return try Output.print(help.fitted) }
  if arguments.has("--version") { return try Output.print("keymoded \(keymodedVersion)") }
  if let operand = arguments.operands.first {
    let hint = access(operand, F_OK) == 0 ? "; a file needs --config or --recording before it" : ""
    throw UsageError("unexpected argument '\(operand)'\(hint)")
  }
  let selection = try inputSelection(arguments)
  let file = arguments["--config"]
  for option in ["--check", "--print-config"] where arguments.has(option) {
    for other in ["--device", "--recording", "--speed", "--socket-dir", "--print-config"]
    where other != option && arguments.isGiven(other) {
      throw UsageError("\(option) and \(other) cannot be used together")
    }
    return option == "--check" ? try checkConfiguration(file) : try printConfiguration(file)
  }
  // The latest keys stay in this process's memory until later ones overwrite them.
  forbidMemoryDumps()
  let daemon = try Daemon(configurationFile: file, selection)
  try daemon.run(socketDirectory: arguments["--socket-dir"])
}

/// Checks the configuration, and prints `OK` for each file. Warnings go to standard error, as
/// errors do.
func checkConfiguration(_ path: String?) throws {
  let files = try ConfigurationText.withDropIns(at: path)
  _ = try Configuration(merging: files) { writeToStandardError("\($0)\n") }
  var output = Output()
  let main = path ?? Configuration.systemPath
  if files.first?.name != main { try output.line("\(main): not there; defaults apply") }
  for file in files { try output.line("\(file.name): OK") }
  try output.flush()
}

/// Prints the configuration as YAML, with the file of each setting in a comment.
func printConfiguration(_ path: String?) throws {
  let files = try ConfigurationText.withDropIns(at: path)
  let lines = try Configuration.annotatedYAML(merging: files) { writeToStandardError("\($0)\n") }
  var output = Output()
  // The YAML escapes everything that a terminal would act on.
  for line in lines { try output.line { $0.append(contentsOf: line.utf8) } }
  try output.flush()
}

/// What the options select as the daemon's input; by default all keyboards.
func inputSelection(_ arguments: Arguments) throws(UsageError) -> Daemon.InputSelection {
  let devices = arguments.values(of: "--device")
  guard let file = arguments["--recording"] else {
    guard arguments["--speed"] == nil else { throw UsageError("--speed needs --recording") }
    return devices.isEmpty ? .allKeyboards : .devices(devices)
  }
  guard devices.isEmpty else {
    throw UsageError("--recording and --device cannot be used together")
  }
  let text = arguments["--speed"] ?? "1"
  guard let speed = PlaybackSpeed(text) else {
    throw UsageError("speed '\(text)' is neither a number from 0.001 to 1000 nor 'max'")
  }
  return .recording(file, speed)
}

reserveStandardStreams()
do {
  try run()
} catch let error as UsageError {
  printUsageError(error)
  exit(ExitStatus.usage)
} catch let errors as ConfigurationErrors {
  printToStandardError(errors, isLocated: errors.errors.first?.mark != nil)
  exit(ExitStatus.badInput)
} catch let error as RecordingError {
  printToStandardError(error, isLocated: error.line != nil)
  exit(ExitStatus.badInput)
} catch  where Output.hasNoReader(error) {
  exit(ExitStatus.done)
} catch {
  printToStandardError("\(error)")
  exit(ExitStatus.failed)
}
