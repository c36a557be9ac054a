import System
import Terminal

/// A command: what help says of it, and what it does.
struct Command {
  /// Its name.
  let name: String
  /// Its operands, as help shows them.
  let operands: String
  /// What it does, in a few words, for the list of commands.
  let summary: String
  /// What it does, in one or more sentences.
  let purpose: String
  /// Two examples, and what they do.
  let examples: [(line: String, meaning: String)]
  /// Runs the command, and returns the exit status.
  let run: @Sendable (Invocation) throws -> Int32

  init(
    _ name: String, _ operands: String, _ summary: String, _ purpose: String,
    _ examples: (line: String, meaning: String)...,
    run: @escaping @Sendable (Invocation) throws -> Int32
  ) {
    (self.name, self.operands, self.run) = (name, operands, run)
    (self.summary, self.purpose, self.examples) = (summary, purpose, examples)
  }

  /// The command of this name.
  ///
  /// - Throws: `UsageError` with the most similar name, if there is no such command.
  init(named name: String) throws(UsageError) {
    guard let command = commands.first(where: { $0.name == name }) else {
      // Commands of other programs, and what they are called here.
      let others = [
        "status": "state", "monitor": "watch", "listen": "watch", "send": "trigger",
        "list": "devices", "run": "while", "version": "--version",
      ]
      let similar = nearest(to: name, among: others.keys.sorted() + commands.map(\.name))
      let isOfSystemd = ["start", "stop", "restart", "reload"].contains(name)
      let hint =
        isOfSystemd
        ? "; 'sudo systemctl \(name) keymoded' does that"
        : similar.map { "; did you mean '\(others[$0] ?? $0)'?" } ?? ""
      throw UsageError("unknown command '\(name)'\(hint)")
    }
    self = command
  }
}

/// The commands, in the order of help.
let commands: [Command] = [
  .init(
    "state", "[MACHINE]", "print the states, or one of them",
    "Prints the states of all machines, or of one: shift, keyboard, your own, and caps (Caps Lock) "
      + "and num (Num Lock) where a keyboard has an LED for them.",
    ("keymodectl state", "print the states"),
    ("test \"$(keymodectl state shift)\" = capsLock", "test one of them in a script"),
    run: state),
  .init(
    "watch", "[MACHINE]",
    "show the states and every change: on a terminal as a live view, elsewhere as "
      + "lines",
    "Shows the states and every change, of all machines or of one: shift, keyboard, caps (Caps "
      + "Lock), num (Num Lock) or one of your own. On a terminal this is a live view, which q ends; "
      + "elsewhere it is a line for each change, until the daemon ends.",
    ("keymodectl watch", "watch what your keys do"),
    ("keymodectl watch --format 'Shift: {shift}'", "print a line for a status bar"),
    run: watch),
  .init(
    "wait", "MACHINE=STATE...", "wait until the machines are in these states",
    "Waits until all these machines are in these states at the same time. MACHINE is shift, "
      + "keyboard, caps, num or one of your own; STATE,STATE means one of these states. 'keymodectl "
      + "help' names the states.",
    ("keymodectl wait shift=capsLock", "wait for capsLock"),
    (
      "keymodectl wait keyboard=editingText,showingPanel --timeout 5s",
      "wait for one of two states, but not longer than 5 seconds"
    ),
    run: wait),
  .init(
    "while", "MACHINE=STATE... -- COMMAND...",
    "run a command while the machines are in these states",
    "Starts a command whenever the machines enter these states, and ends it, with all that it has "
      + "started, when they leave them. While your session is locked, or not the active one of its "
      + "seat, the states count as left.",
    (
      "keymodectl while --anew talk=talking,trailing -- pw-record voice.wav",
      "record while a talk key is held; each time replaces the file"
    ),
    ("keymodectl while --once shift=capsLock -- sleep 60", "run a command a single time"),
    run: runWhile),
  .init(
    "targets", "",
    "let services of your systemd start and stop with the states",
    "Lets services of your systemd start and stop with the states of the keyboard and of your own "
      + "machines, until Ctrl+C. Keeps the target of each present state active, such as "
      + "keymode@keyboard:editingText.target. A service that has this target in both WantedBy= and "
      + "PartOf= starts and stops with it.",
    ("systemctl --user enable --now keymode-targets.service", "run it as a service"),
    ("keymodectl targets --shift --locks", "for all machines, until Ctrl+C"),
    run: targets),
  .init(
    "shift", "",
    "let Shift type: a virtual keyboard makes the letters of other programs capitals",
    "Lets the states of Shift type, until Ctrl+C: a virtual keyboard turns Caps Lock on while the "
      + "state is capsLock, or holds Shift while it is on. It acts in the session that is in front, "
      + "unless that is locked. It needs /dev/uinput, as root or keymoded-shift.service.",
    ("sudo keymodectl shift --caps-lock", "what keymoded-shift.service runs"),
    ("sudo keymodectl shift --one-shot", "one tap of Shift is for one letter"),
    run: shift),
  .init(
    "seat", "", "let the person in front read the states; keymoded-seat.service runs it",
    "Lets the person in front read the states, until Ctrl+C: the user of the active session of seat0, "
      + "whom the ACL of the socket names. When another person is in front, keymoded ends the "
      + "connections of before, and forgets the changes. It needs root.",
    ("systemctl status keymoded-seat", "look at the service that runs it"),
    ("sudo keymodectl seat", "what keymoded-seat.service runs"),
    run: seat),
  .init(
    "trigger", "EVENT", "send an event instead of a key",
    "Sends an event instead of a key, and prints the states after it. An event of a machine of your "
      + "own has its name before it, such as talk.press. The exit status is 1 if the event changed "
      + "nothing. Members of the group keymoded-control may send events.",
    ("keymodectl trigger clickMoreButton", "open the panel, or close it"),
    ("keymodectl trigger tapTextField --json", "print the reply as JSON"),
    run: trigger),
  .init(
    "devices", "", "print the devices that the daemon follows",
    "Prints the devices that the daemon follows: device node, vendor and product, kind and name. "
      + "The kind is keyboard; pointer, if the daemon reads only the buttons of the device; or "
      + "keys, if the device has only some keys. Members of the group keymoded-control may ask.",
    ("keymodectl devices", "print a table"),
    ("keymodectl devices --json", "print a line of JSON for each device"),
    run: devices),
  .init(
    "stats", "", "print statistics of the daemon",
    "Prints statistics of the daemon, such as how long it has been running and which configuration "
      + "it uses, and whether a device has held a modifier or a pointer button for a minute. None "
      + "of them counts keys. Members of the group keymoded-control may ask.",
    ("keymodectl stats", "print a table"),
    ("keymodectl stats --json", "print a line of JSON"),
    run: stats),
  .init(
    "graph", "MACHINE", "print the diagram of a machine; needs no daemon",
    "Prints the diagram of a machine, computed from its rules: of shift, keyboard, caps or num, or of "
      + "your own by --config or --current.",
    ("keymodectl graph keyboard | dot -Tsvg > keyboard.svg", "draw a picture with Graphviz"),
    ("keymodectl graph keyboard --current --format mermaid", "draw the daemon's rules for Mermaid"),
    run: { try graph($0.operands, $0.daemon, $0.arguments) }),
  .init(
    "replay", "[FILE]...",
    "print the changes that recordings of keyboards make; needs no daemon",
    "Prints the changes that recordings of keyboards make, and the states at the end, without a "
      + "daemon and without waiting. '-' is standard input. Several recordings are merged by time.",
    ("keymodectl replay typing.yaml", "print the changes"),
    ("keymodectl replay typing.yaml --timeline typing.svg", "draw them, too"),
    run: { try replay($0.operands, $0.arguments) }),
  .init(
    "record", "[DEVICE]...", "record these keyboards, or all; needs no daemon",
    "Records these devices, or all keyboards and the buttons of all pointers, until Ctrl+C. The "
      + "recording does not show what is typed, but replays to the same changes.",
    ("sudo keymodectl record --output typing.yaml", "record all keyboards into a new file"),
    ("sudo keymodectl record /dev/input/event3 | keymodectl replay -", "show its changes at once"),
    run: { try record($0.operands, $0.arguments) }),
  .init(
    "keys", "[DEVICE]...",
    "show the name of each key that you press, and what it is bound to; needs no daemon",
    "Shows each key that you press on these devices, or on all, until Ctrl+C: its name for the "
      + "configuration, and what it is bound to by the configuration of this machine.",
    ("sudo keymodectl keys", "find out what a key is called, and what it does"),
    ("sudo keymodectl keys --config keymoded.yaml", "what it would do by this file"),
    run: keys),
  .init(
    "recipe", "[NAME]", "install a recipe, such as push-to-talk, with a key of your own",
    "Installs a recipe as a drop-in of the configuration, checks it with the rest, and reloads "
      + "keymoded. It replaces an earlier copy. Without a name, prints the recipes. Only root may "
      + "install one.",
    ("sudo keymodectl recipe push-to-talk --key Right_Ctrl", "hold this key to talk"),
    ("sudo keymodectl recipe push-to-talk --remove", "undo it"),
    run: recipe),
  .init(
    "doctor", "", "say what works, what does not, and which command mends it",
    "Says whether keymoded runs, its configuration is valid, you may read the states, your session "
      + "is in front, keyboards are followed and keys arrive, and what push-to-talk needs. Below "
      + "what is not right stands the command that mends it, and the exit status is 1. On a "
      + "terminal it asks you to press Shift.",
    ("keymodectl doctor", "look at the service of this machine"),
    ("keymodectl doctor --socket-dir /tmp/k", "look at a keymoded that serves there"),
    run: doctor),
  .init(
    "help", "[COMMAND]", "print this help, or that of a command",
    "Prints all commands, or the options of a command and examples.",
    ("keymodectl help", "print all commands"), ("keymodectl help wait", "the same as wait --help"),
    run: { try help($0.arguments) }),
]
