import EventRecordings
import Glibc
import KeymodeClient
import KeymodeInterface
import KeymodedConfiguration
import SystemCalls

/// The exit statuses, which scripts rely on.
enum Status {
  static let no: Int32 = 1
  static let usage: Int32 = 2
  static let noDaemon: Int32 = 3
  static let badInput: Int32 = 4
  static let permissionDenied: Int32 = 5
}

let help: TerminalText = """
  usage: keymodectl COMMAND [OPTION]...

  Asks keymoded for the modes of the keyboard, or tells it of an event.

    state [shift|keyboard]   print the states, or one of them
    watch                    show the states and every change, live on a terminal,
                             otherwise a line each
    wait MACHINE=STATE...    wait until the machines are in these states
    trigger EVENT            send an event in place of a key
    devices                  print which devices are followed
    stats                    print how much the daemon has done
    graph shift|keyboard     print the diagram of a machine; needs no daemon
    replay FILE...           print the changes that recordings make, merged by
                             time; needs no daemon; '-' is standard input
    record [DEVICE]...       record these keyboards, or all; needs no daemon

    --json                   all but wait, graph and record: print JSON, a line
                             each
    --socket-dir DIR         all but replay and record: the daemon serves in DIR;
                             by default in $KEYMODED_SOCKET_DIR,
                             $XDG_RUNTIME_DIR/keymoded or /run/keymoded
    --timeout SECONDS        all but watch, replay and record: give up waiting for
                             the daemon after so long, by default after 5; wait
                             then exits with 1, and without it waits on
    --config FILE            replay, record or draw with the settings of FILE
    --version                print the version
    --help                   print this

  watch
    --lines                  a line each, on a terminal too
    --format TEXT            for a status bar: print TEXT, with the states in
                             place of {shift} and {keyboard}, when it is another
    --waybar                 likewise, as JSON for a custom module of Waybar

  graph
    --format LANGUAGE        dot, the default, or mermaid
    --current                mark the state that the daemon is in

  replay
    --format FORMAT          evemu, libinput, evtest, getevent, raw64 or raw32; by
                             default found by content
    --expect FILE            only tell whether the changes are those in FILE,
                             which --json printed
    --from T, --until T      show only what is from and until these seconds
    --stats                  count what the recording holds
    --timeline FILE          draw the changes into FILE, as SVG
    --lenient                pass over what is wrong, and count it

  record
    --output FILE            write to FILE, which must not be there yet; by
                             default to standard output
    --format FORMAT          evemu, the default for one device, or libinput
    --show-keycodes          do not redact: leave readable what is typed

  Events: shiftPressed characterTyped clickSwitchButton clickMoreButton
  tapTextField tapBlankArea

  Exit status: 0 done, 1 the answer is no or the system refused something,
  2 wrong usage, 3 no daemon or no answer, 4 bad input, 5 permission denied.
  """

/// The options that only some commands have.
let optionsOfCommands: KeyValuePairs = [
  "--json": ["devices", "replay", "state", "stats", "trigger", "watch"],
  "--socket-dir": ["devices", "graph", "state", "stats", "trigger", "wait", "watch"],
  "--config": ["graph", "record", "replay"], "--format": ["graph", "record", "replay", "watch"],
  "--current": ["graph"], "--output": ["record"], "--show-keycodes": ["record"],
  "--expect": ["replay"], "--from": ["replay"], "--lenient": ["replay"], "--lines": ["watch"],
  "--stats": ["replay"],
  "--timeline": ["replay"],
  "--timeout": ["devices", "graph", "state", "stats", "trigger", "wait"], "--until": ["replay"],
  "--waybar": ["watch"],
]

/// On the main thread, which all commands but `watch` keep to: a signal that a command blocks is
/// blocked for the whole program then, and there is no thread to be started.
@MainActor
func run() async throws -> Int32 {
  let arguments = try Arguments(
    commandLine(),
    flags: [
      "--current", "--help", "--json", "--lenient", "--lines", "--show-keycodes", "--stats",
      "--version",
      "--waybar",
    ],
    options: [
      "--config", "--expect", "--format", "--from", "--output", "--socket-dir", "--timeline",
      "--timeout", "--until",
    ])
  if arguments.has("--help") {
    Output.print(help)
    return 0
  }
  if arguments.has("--version") {
    Output.print("keymodectl \(keymodedVersion)")
    return 0
  }
  guard let command = arguments.operands.first else { throw UsageError("no command is given") }
  let operands = Array(arguments.operands.dropFirst())
  for option in ["--config", "--expect", "--output", "--timeline"] where arguments[option] == "-" {
    throw UsageError("'-' is no file for '\(option)'; './-' is one of that name")
  }
  let asJSON = arguments.has("--json")
  let directory = Connection.directory(arguments["--socket-dir"])
  for (option, commands) in optionsOfCommands {
    guard !arguments.isGiven(option) || commands.contains(command) else {
      throw UsageError("option '\(option)' is for \(listed(commands))")
    }
  }
  let timeout = try arguments["--timeout"].map(seconds).map {
    Duration.microseconds($0.microseconds)
  }
  // Only `wait` has a use for it: to ask for the states as they are.
  if timeout == .zero, command != "wait" { throw UsageError("'--timeout 0' is for wait") }
  let daemon = DaemonAddress(directory, timeout: timeout)
  switch command {
  case "state": return try state(operands, daemon, asJSON: asJSON)
  case "watch": return try await watch(operands, directory: directory, arguments)
  case "wait": return try wait(operands, directory: directory, timeout: timeout)
  case "devices": return try devices(operands, daemon, asJSON: asJSON)
  case "stats": return try stats(operands, daemon, asJSON: asJSON)
  case "trigger": return try trigger(operands, daemon, asJSON: asJSON)
  case "graph": return try graph(operands, daemon, arguments)
  case "record": return try record(operands, arguments)
  case "replay": return try replay(operands, arguments)
  default: throw UsageError("unknown command '\(command)'")
  }
}

// Whoever reads may go at any time; writing then fails, which says so without ending everything.
signal(SIGPIPE, SIG_IGN)
reserveStandardStreams()
let status: Int32
do {
  status = try await run()
} catch let error as UsageError {
  complain("\(error)\ntry '\(programName) --help'")
  status = Status.usage
} catch let error as ClientError {
  complain("\(error)")
  switch error {
  case .noDaemon, .noAnswer, .connectionLost: status = Status.noDaemon
  case .permissionDenied, .refused(name: "org.varlink.service.PermissionDenied", _):
    status = Status.permissionDenied
  case .badReply, .refused, .failed, .cancelled: status = Status.no
  }
} catch let errors as ConfigurationErrors {
  writeToStandardError("\(errors)\n")
  status = Status.badInput
} catch let error as RecordingError {
  writeToStandardError("\(error)\n")
  status = Status.badInput
} catch {
  complain("\(error)")
  status = Status.no
}
exit(status)
