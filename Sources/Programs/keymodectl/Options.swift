import Configuration
import System
import Terminal

/// An option with one of its meanings.
struct Option {
  /// Its name, with dashes.
  let name: String
  /// The placeholder for its value in help; `nil` if the option takes no value.
  let value: String?
  /// The commands that have it with this meaning.
  let commands: [String]
  /// What it means, in words.
  let meaning: String

  init(_ name: String, _ value: String, _ commands: [String], _ meaning: String) {
    (self.name, self.value, self.commands, self.meaning) = (name, value, commands, meaning)
  }

  init(_ name: String, _ commands: [String], _ meaning: String) {
    (self.name, value, self.commands, self.meaning) = (name, nil, commands, meaning)
  }
}

/// The options except `--help` and `--version`, in the order of help. An option with several
/// meanings is there several times.
let options: [Option] = [
  .init("--lines", ["watch"], "print lines on a terminal too"),
  .init(
    "--format", "TEXT", ["watch"],
    "for a status bar: print TEXT whenever it changes; {shift}, {keyboard}, {caps}, {num} and the "
      + "names of your own machines in it stand for the states"
  ),
  .init(
    "--waybar", ["watch"],
    "print JSON for a custom module of Waybar: the states as its classes, with talk-open for a state of "
      + "your own machine, and caps-on and num-on while these locks are on; and a text, which --format "
      + "sets"),
  .init(
    "--grace", "TIME", ["while"],
    "how long the command may take to end before it is killed, such as 500ms; by default 3s"),
  .init(
    "--quiet", ["while"], "do not say on a terminal what is waited for, started and ended"),
  .init(
    "--anew", ["while"],
    "for all that opens a microphone: a state counts only if it is entered while this command watches; "
      + "after a start, a lock, another session in front, a sleep or a lost connection, wait until "
      + "it is entered again"),
  .init("--once", ["while"], "run the command a single time, and exit as it does"),
  .init("--shift", ["targets"], "for the states of Shift too"),
  .init("--locks", ["targets"], "for the states of Caps Lock and Num Lock too"),
  .init("--caps-lock", ["shift"], "turn Caps Lock on while the state of Shift is capsLock"),
  .init(
    "--one-shot", ["shift"],
    "hold Shift while its state is on; the daemon needs 'trigger: tap' for it, and should have "
      + "'used_by: any'"),
  .init(
    "--at-most", "TIME", ["shift"],
    "how long to hold Shift at most, up to 5s; by default 3s"),
  .init(
    "--any-session", ["targets", "while"],
    "also while your session is locked, not the active one of its seat, or over the network"),
  .init("--any-session", ["shift"], "whichever session is in front, even one that is locked"),
  .init("--format", "LANGUAGE", ["graph"], "dot, for Graphviz (the default), or mermaid"),
  .init("--current", ["graph"], "draw the rules of the daemon and mark its state"),
  .init(
    "--format", "FORMAT", ["replay"],
    "evemu, libinput, evtest, getevent, raw64 or raw32; by default replay detects the format"),
  .init(
    "--from", "TIME", ["replay"],
    "begin at this time, such as 2.5s, on the clock that replay prints"),
  .init("--until", "TIME", ["replay"], "end at this time"),
  .init(
    "--each", ["replay"],
    "do not merge the recordings: replay each by itself, and name its file; invalid ones do not stop "
      + "the others"),
  .init(
    "--files0-from", "LIST", ["replay"],
    "also replay the files that LIST names, each name ended by NUL, as find -print0 writes them; '-' "
      + "is standard input"),
  .init("--timeline", "FILE", ["replay"], "draw the changes into FILE, as SVG"),
  .init("--lenient", ["replay"], "skip errors and count them"),
  .init(
    "--output", "FILE", ["record"],
    "write to FILE, which must not exist yet; by default to standard output"),
  .init("--show-keycodes", ["record"], "do not redact: the recording shows what is typed"),
  .init(
    "--config", "FILE", ["graph", "replay"],
    "use the settings of FILE; without it, the defaults apply, not the settings of the daemon"),
  .init(
    "--config", "FILE", ["keys", "record"],
    "use the settings of FILE; by default those of /etc/keymoded/keymoded.yaml, if it is there"),
  .init(
    "--key", "KEY", ["recipe"],
    "the key of the recipe instead of its own: a key or a chord, such as F9 or Ctrl+Space"),
  .init("--remove", ["recipe"], "remove the recipe, if it was installed"),
  .init(
    "--config", "FILE", ["recipe"],
    "install into the folder FILE.d; by default into /etc/keymoded/keymoded.yaml.d"),
  .init(
    "--config", "FILE", ["doctor"],
    "look at the configuration FILE; by default at /etc/keymoded/keymoded.yaml"),
  .init(
    "--no-wait", ["wait", "watch", "while"], "if no daemon runs, do not wait for one: exit with 3"),
  .init(
    "--timeout", "TIME", ["wait"],
    "give up after this time, such as 500ms or 5s, and exit with 1; by default never"),
  .init(
    "--timeout", "TIME", ["devices", "doctor", "graph", "state", "stats", "trigger"],
    "give up if the daemon has not answered after this time, by default 5s"),
  .init(
    "--json", ["devices", "replay", "state", "stats", "trigger", "watch"], "print JSON lines"),
  .init(
    "--socket-dir", "DIR",
    [
      "devices", "doctor", "graph", "seat", "shift", "state", "stats", "targets", "trigger", "wait",
      "watch", "while",
    ],
    "the directory of the daemon's sockets; by default $KEYMODED_SOCKET_DIR, "
      + "$XDG_RUNTIME_DIR/keymoded or /run/keymoded"),
]

extension Arguments {
  /// The arguments of this program.
  static func ofThisProgram() throws(UsageError) -> Arguments {
    let arguments = try commandLine()
    do throws(UsageError) {
      return try Arguments(
        arguments,
        flags: Set(options.filter { $0.value == nil }.map(\.name) + ["--help", "--version"]),
        options: Set(options.filter { $0.value != nil }.map(\.name)),
        short: ["-h": "--help", "-V": "--version"])
    } catch {
      // The option may belong to the command that `while` runs.
      guard arguments.first == "while", !arguments.contains("--") else {
        throw error
      }
      throw UsageError("\(error)\nwrite '--' before the command that while runs")
    }
  }

  /// Refuses options that the command does not have, and files that are named `-`.
  func check(for command: String) throws(UsageError) {
    for option in options where option.value == "FILE" && self[option.name] == "-" {
      throw UsageError("option '\(option.name)' needs a file, not '-'; './-' is a file named '-'")
    }
    for option in options where isGiven(option.name) {
      let commands = options.filter { $0.name == option.name }.flatMap(\.commands).sorted()
      guard commands.contains(command) else {
        throw UsageError("option '\(option.name)' works only with \(listed(commands))")
      }
    }
  }
}

/// The configuration in the file of `--config`. Without that option, this machine's configuration
/// if `isOfMachine`, otherwise the defaults. Writes warnings to standard error.
func configuration(
  _ arguments: Arguments, isOfMachine: Bool = false
) throws(ConfigurationErrors) -> Configuration {
  let file = arguments["--config"]
  guard isOfMachine || file != nil else { return Configuration() }
  return try Configuration.load(file, mayWait: true) { writeToStandardError("\($0)\n") }
}
