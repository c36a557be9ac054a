import CommandLineTools
import KeymodeClient
import SystemCalls

/// An option, and the commands that have it.
private struct Option {
  let name: String
  let takesValue: Bool
  let commands: [String]

  init(_ name: String, takesValue: Bool = false, _ commands: String...) {
    self.name = name
    self.takesValue = takesValue
    self.commands = commands
  }
}

private let options = [
  Option("--json", "devices", "replay", "state", "stats", "trigger", "watch"),
  Option(
    "--socket-dir", takesValue: true, "devices", "graph", "state", "stats", "trigger", "wait",
    "watch"),
  Option("--config", takesValue: true, "graph", "record", "replay"),
  Option("--format", takesValue: true, "graph", "record", "replay", "watch"),
  Option("--current", "graph"),
  Option("--output", takesValue: true, "record"),
  Option("--show-keycodes", "record"),
  Option("--expect", takesValue: true, "replay"),
  Option("--from", takesValue: true, "replay"),
  Option("--lenient", "replay"),
  Option("--lines", "watch"),
  Option("--stats", "replay"),
  Option("--timeline", takesValue: true, "replay"),
  Option(
    "--timeout", takesValue: true, "devices", "graph", "state", "stats", "trigger", "wait"),
  Option("--until", takesValue: true, "replay"),
  Option("--waybar", "watch"),
]

/// A command, its operands and its options.
struct Invocation {
  let command: String
  let operands: [String]
  let arguments: Arguments

  var asJSON: Bool { arguments.has("--json") }

  /// The folder of the daemon's sockets.
  var directory: String { Connection.directory(arguments["--socket-dir"]) }

  /// The value of `--timeout`.
  let timeout: Duration?

  /// Reads arguments other than `--help` and `--version`.
  ///
  /// - Throws: `UsageError` if there is no command, or for an option that the command does not have.
  init(_ arguments: Arguments) throws(UsageError) {
    guard let command = arguments.operands.first else { throw UsageError("no command is given") }
    for option in ["--config", "--expect", "--output", "--timeline"]
    where arguments[option] == "-" {
      throw UsageError("'-' is no file for '\(option)'; './-' is one of that name")
    }
    for option in options where arguments.isGiven(option.name) {
      guard option.commands.contains(command) else {
        throw UsageError("option '\(option.name)' is for \(listed(option.commands))")
      }
    }
    self.command = command
    operands = Array(arguments.operands.dropFirst())
    self.arguments = arguments
    timeout = try arguments["--timeout"].map(microseconds).map { .microseconds($0) }
    // For `wait` it means to check the present states; other commands could not get an answer.
    if timeout == .zero, command != "wait" { throw UsageError("'--timeout 0' is for wait") }
  }
}

extension Arguments {
  /// The arguments of this program.
  ///
  /// - Throws: `UsageError` for an unknown option, or a missing or superfluous value.
  static func ofThisProgram() throws(UsageError) -> Arguments {
    try Arguments(
      commandLine(),
      flags: Set(options.filter { !$0.takesValue }.map(\.name) + ["--help", "--version"]),
      options: Set(options.filter(\.takesValue).map(\.name)))
  }
}
