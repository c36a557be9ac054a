import CommandLineTools
import EventRecordings
import Glibc
import KeymodeInterface
import KeymodedConfiguration
import KeymodedService
import SystemCalls

let help: TerminalText = """
  usage: keymoded [OPTION]...

  Gives a keyboard the modes of a phone's chat program, and tells every program
  about them on a socket. Ask it with keymodectl.

    --config FILE       read FILE, not \(Configuration.systemPath)
    --check             only tell what is wrong with the configuration
    --device PATH       follow this device, not all keyboards; may be repeated
    --recording FILE    play a recording in place of devices
    --speed X           play it X times as fast, from 0.001 to 1000, or with
                        'max' without waiting
    --socket-dir DIR    make the sockets in DIR; by default in /run/keymoded for
                        root, in $XDG_RUNTIME_DIR/keymoded for others
    --version           print the version
    --help              print this

  Exit status: 0 done or ended by a signal, 1 the system refused something,
  2 wrong usage, 4 a bad configuration or recording. SIGHUP makes it read its
  configuration again.
  """

/// Runs the daemon until a signal ends it.
func run() throws {
  let arguments = try Arguments(
    commandLine(), flags: ["--check", "--version", "--help"],
    options: ["--config", "--recording", "--speed", "--socket-dir"], lists: ["--device"])
  if arguments.has("--help") { return Output.print(help) }
  if arguments.has("--version") { return Output.print("keymoded \(keymodedVersion)") }
  if let operand = arguments.operands.first { throw UsageError("unexpected '\(operand)'") }
  let source = try source(arguments)
  let file = arguments["--config"]
  if arguments.has("--check") {
    for other in ["--device", "--recording", "--speed", "--socket-dir"]
    where arguments.isGiven(other) {
      throw UsageError("--check and \(other) exclude each other")
    }
    _ = try Configuration.load(file)
    return
  }
  // The latest keys stay in this process's memory until later ones overwrite them.
  forbidMemoryDumps()
  let daemon = try Daemon(configurationFile: file, source)
  try daemon.run(socketDirectory: arguments["--socket-dir"])
}

/// Where the daemon's keys come from.
func source(_ arguments: Arguments) throws(UsageError) -> Daemon.Source {
  let devices = arguments.list("--device")
  guard let file = arguments["--recording"] else {
    guard arguments["--speed"] == nil else { throw UsageError("--speed needs --recording") }
    return devices.isEmpty ? .allKeyboards : .devices(devices)
  }
  guard devices.isEmpty else { throw UsageError("--recording and --device exclude each other") }
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
  complain(error)
  exit(ExitStatus.usage)
} catch  where error is ConfigurationErrors || error is RecordingError {
  writeToStandardError("\(error)\n")
  exit(ExitStatus.badInput)
} catch {
  complain("\(error)")
  exit(ExitStatus.no)
}
