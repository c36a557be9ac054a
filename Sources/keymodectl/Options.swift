import CommandLineTools
import KeymodedConfiguration
import SystemCalls

/// The options except `--help` and `--version`, and the commands that have each of them.
private let options: [(name: String, takesValue: Bool, commands: [String])] = [
  ("--any-session", false, ["focus", "targets", "while"]),
  ("--json", false, ["devices", "replay", "state", "stats", "trigger", "watch"]),
  (
    "--socket-dir", true,
    ["devices", "focus", "graph", "state", "stats", "targets", "trigger", "wait", "watch", "while"]
  ),
  ("--config", true, ["graph", "keys", "record", "replay"]),
  ("--format", true, ["graph", "record", "replay", "watch"]),
  ("--current", false, ["graph"]),
  ("--output", true, ["record"]),
  ("--shift", false, ["targets"]),
  ("--show-keycodes", false, ["record"]),
  ("--expect", true, ["replay"]),
  ("--from", true, ["replay"]),
  ("--grace", true, ["while"]),
  ("--lenient", false, ["replay"]),
  ("--lines", false, ["watch"]),
  ("--once", false, ["while"]),
  ("--stats", false, ["replay"]),
  ("--timeline", true, ["replay"]),
  ("--timeout", true, ["devices", "graph", "state", "stats", "trigger", "wait"]),
  ("--until", true, ["replay"]),
  ("--waybar", false, ["watch"]),
]

extension Arguments {
  /// The arguments of this program.
  static func ofThisProgram() throws(UsageError) -> Arguments {
    try Arguments(
      commandLine(),
      flags: Set(options.filter { !$0.takesValue }.map(\.name) + ["--help", "--version"]),
      options: Set(options.filter(\.takesValue).map(\.name)))
  }

  /// Refuses options that the command does not have, and files that are named `-`.
  func check(for command: String) throws(UsageError) {
    for option in ["--config", "--expect", "--output", "--timeline"] where self[option] == "-" {
      throw UsageError("option '\(option)' needs a file, not '-'; './-' is a file named '-'")
    }
    for option in options where isGiven(option.name) && !option.commands.contains(command) {
      throw UsageError("option '\(option.name)' works only with \(listed(option.commands))")
    }
  }
}

/// The configuration in the file of `--config`, by default the defaults. Writes warnings about it to
/// standard error.
func configuration(_ arguments: Arguments) throws(ConfigurationErrors) -> Configuration {
  guard let file = arguments["--config"] else { return Configuration() }
  return try Configuration.load(file) { writeToStandardError("\($0)\n") }
}
