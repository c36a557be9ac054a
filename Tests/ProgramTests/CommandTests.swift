import Foundation
import Synchronization
import TestSupport
import Testing
import Wire

@Suite("Commands")
struct CommandTests {
  /// Runs a line of a shell, with the programs under test in `PATH`.
  private func shell(_ line: String, in directory: String = "") throws -> Ended {
    let path = ["PATH": "\(Place.programs):/usr/bin:/bin"]
    return try run(
      "/bin/sh", "-c", line, environment: path.merging(["KEYMODED_SOCKET_DIR": directory]) { $1 })
  }

  @Test("each of these lines, one after the other, has this exit status and this output")
  func lines() throws {
    // However long a program takes to start, a second press is within the threshold.
    let daemon = try RunningDaemon(configuration: "shift: { threshold: 60s }\n")
    let states = "shift     off\nkeyboard  editingText\n"
    for (line, status, output, errors) in [
      ("state", 0, "shift     off\nkeyboard  prepareToEditText\n", ""),
      ("state shift", 0, "off\n", ""),
      ("state keyboard", 0, "prepareToEditText\n", ""),
      ("state shift --json", 0, "\"off\"\n", ""),
      ("trigger tapTextField", 0, states, ""),
      (
        "trigger tapTextField", 1, states, "ignored: nothing happens on tapTextField in editingText"
      ),
      ("trigger characterTyped", 1, states, "ignored: nothing happens on characterTyped in off"),
      (
        "trigger tapNothing", 2, "",
        """
        unknown event 'tapNothing'; expected shiftPressed, characterTyped, clickSwitchButton, \
        clickMoreButton, tapTextField or tapBlankArea
        try 'keymodectl trigger --help'
        """
      ),
      ("wait shift=off keyboard=editingText", 0, "", ""),
      ("wait shift=on --timeout 0.05", 1, "", ""),
      ("wait shift=off keyboard=showingPanel --timeout 0", 1, "", ""),
      (
        "devices", 0, "",
        """
        keymoded follows no device, because it plays a recording
        """
      ),
      ("devices --json", 0, "", ""),
    ] {
      let ended = try shell("keymodectl \(line)", in: daemon.folder.path)
      #expect((ended.status, ended.output) == (Int32(status), output), "\(line)")
      #expect(ended.errors == (errors.isEmpty ? "" : "keymodectl: \(errors)\n"), "\(line)")
    }
    for line in ["--json state", "trigger --json tapBlankArea"] {
      let json = try JSON(parsing: shell("keymodectl \(line)", in: daemon.folder.path).output.utf8)
      #expect((json["state"] ?? json)["states"]?["shift"] == "off")
    }
  }

  @Test("an event with any number of letters is unknown, and is shown in part")
  func longEvent() throws {
    let daemon = try RunningDaemon()
    let ended = try daemon.ask("trigger", String(repeating: "x", count: 100_000))
    #expect((ended.status, ended.output) == (2, ""))
    #expect(ended.errors.hasPrefix("keymodectl: unknown event 'xxx"))
    #expect(ended.errors.contains("x…'; expected shiftPressed, "))
    #expect(ended.errors.count < 300)
  }

  @Test("devices says why a daemon without a recording follows none")
  func noDevices() throws {
    let ended = try RunningDaemon.following().ask("devices")
    #expect((ended.status, ended.output) == (0, ""))
    #expect(
      ended.errors == """
        keymodectl: keymoded follows no device: none is there, or its configuration excludes it

        """)
    let keyboard = try FIFOKeyboard()
    try FileManager.default.removeItem(atPath: keyboard.path)
    let refused = try RunningDaemon.following(keyboard).ask("devices")
    #expect(
      refused.errors == """
        keymodectl: keymoded follows no device: it cannot open 1 that it should follow; \
        its log says why

        """)
  }

  @Test(
    "a limit of open files that is too low is told",
    arguments: ["watch", "wait shift=on", "while shift=on -- true"])
  func fewDescriptors(_ command: String) throws {
    let ended = try shell("ulimit -n 6; exec keymodectl \(command)")
    #expect(ended.status == 1)
    #expect(ended.errors.hasPrefix("keymodectl: cannot "))
    #expect(ended.errors.hasSuffix(": Too many open files\n"))
  }

  @Test("a moment in the states is enough for wait")
  func moment() throws {
    let daemon = try RunningDaemon(configuration: "shift: { threshold: 60s }\n")
    // The test cannot see when wait has subscribed, so it repeats.
    let moment = try shell(
      """
      keymodectl wait shift=capsLock keyboard=showingPanel --timeout \(boundSeconds) & waiting=$!
      while kill -0 $waiting 2>/dev/null; do
        for event in clickMoreButton shiftPressed shiftPressed shiftPressed clickMoreButton; do
          keymodectl trigger $event >/dev/null
        done
      done
      wait $waiting; echo "ended with $?"
      """, in: daemon.folder.path)
    #expect((moment.output, moment.errors) == ("ended with 0\n", ""))
  }

  @Test(
    "wait ends at its timeout if the daemon does not answer",
    arguments: ["shift=on", "keyboard=editingText"])
  func waitForTheSilent(_ condition: String) throws {
    let daemon = try RunningDaemon()
    try daemon.whileStopped {
      let ended = try daemon.ask("wait", condition, "--timeout", "0")
      #expect((ended.status, ended.output, ended.errors) == (1, "", ""))
    }
  }

  @Test("stats print what the daemon counts, by its own clock; its methods need the control socket")
  func statistics() throws {
    let beginning = ContinuousClock.now
    let daemon = try RunningDaemon(recording: "# EVEMU 1.3\nE: 5.000001 0001 001e 0001\n")
    try daemon.change(3)
    let json = try JSON(parsing: daemon.ask("stats", "--json").output.utf8)
    #expect((json["changes"], json["clients"], json["missed"]) == (3, 1, 0))
    let late = try daemon.client()
    try late.call(
      "org.keymoded.Controller.Monitor", ["after": 0, "instance": "another"], more: true)
    _ = try late.reply()
    let text = try daemon.ask("stats").lines
    let running = try #require(text.first).split(separator: " ")
    #expect(running.count == 3 && running[0] == "running" && running[2] == "s")
    let seconds = try #require(Int(running[1]))
    let elapsed = (ContinuousClock.now - beginning).components.seconds
    #expect(0...Int(elapsed) ~= seconds, "not by the clock of the recording")
    #expect(
      text.dropFirst() == [
        "changes        3", "clients        2", "missed         1", "devices        0",
        "losses         0", "reloads        0", "configuration  good",
      ])
    for method in ["ListDevices", "GetStatistics"] {
      let client = try daemon.client()
      try client.call("org.keymoded.Controller.\(method)")
      #expect(
        try client.message() == #"{"error":"org.varlink.service.PermissionDenied","parameters":{}}"#
      )
    }
  }

  @Test("devices prints a table, and with --json all members of every device")
  func devices() throws {
    let folder = try TemporaryFolder()
    let name = String(repeating: "long ", count: 20)
    let devices = [
      #"{"name":"AT Translated Set 2 keyboard","node":"/dev/input/event3","vendor":"0001","#
        + #""product":"0001","keyboard":true,"pointer":false}"#,
      #"{"name":"\#(name)","node":"/dev/input/event12","vendor":"046d","product":"c52b","#
        + #""keyboard":false,"pointer":false}"#,
      #"{"name":"\u001b[2J键盘","node":"/dev/input/event4","vendor":"1209","product":"0001","#
        + #""keyboard":true,"pointer":false}"#,
      #"{"name":"A mouse","node":"/dev/input/event5","vendor":"046d","product":"c077","#
        + #""keyboard":false,"pointer":true}"#,
    ]
    func output(_ options: String...) throws -> [String] {
      let answer = #"{"parameters":{"devices":["# + devices.joined(separator: ",") + "]}}"
      let daemon = try ScriptedDaemon(in: folder.path, ["ListDevices": [answer]])
      let ended = try shell("keymodectl devices \(options.joined())", in: folder.path)
      #expect((ended.status, ended.errors) == (0, ""))
      withExtendedLifetime(daemon) {}
      return ended.lines
    }
    #expect(
      try output() == [
        "/dev/input/event3   0001:0001  keyboard  AT Translated Set 2 keyboard",
        "/dev/input/event12  046d:c52b  keys      long long long long long long long lon…",
        "/dev/input/event4   1209:0001  keyboard  \u{fffd}[2J键盘",
        "/dev/input/event5   046d:c077  pointer   A mouse",
      ])
    let json = try output("--json")
    #expect(json.count == devices.count)
    for (line, device) in zip(json, devices) {
      #expect(try JSON(parsing: Array(line.utf8)) == JSON(parsing: Array(device.utf8)))
    }
  }

  @Test("graph draws the given settings, and marks the daemon's state")
  func graph() throws {
    let daemon = try RunningDaemon()
    try daemon.change(1)
    let file = try daemon.folder.write("quick.yaml", "shift: { threshold: 250ms }")
    let drawn = try daemon.ask(
      "graph", "shift", "--format", "mermaid", "--current", "--config", file)
    #expect(
      drawn.output == """
        stateDiagram-v2
          [*] --> off
          off --> on: shiftPressed<br/>shiftUsed [was on]
          off --> capsLock: shiftUsed [was capsLock]
          on --> capsLock: shiftPressed [< 250 ms]<br/>shiftUsed [was capsLock]
          on --> off: shiftPressed [≥ 250 ms]<br/>characterTyped<br/>shiftUsed [was off]
          capsLock --> off: shiftPressed<br/>shiftUsed [was off]
          capsLock --> on: shiftUsed [was on]
          classDef current fill:#ffd75f,color:#000
          class on current

        """)
  }

  @Test("graph reports a state of the daemon that the given settings lack")
  func graphOfOther() throws {
    let daemon = try RunningDaemon(
      configuration: "keyboard: { table: { states: [asleep], events: [yawn], "
        + "rows: { prepareToEditText: { yawn: asleep }, asleep: { yawn: prepareToEditText } } } }")
    try daemon.client(\.controlSocket).trigger(["yawn"])
    let directory = daemon.folder.path
    let graph = "keymodectl graph keyboard --current"
    let drawn = try shell("\(graph) --format=mermaid", in: directory)
    let asConfigured = try shell(
      "\(graph) --format=mermaid --config \(directory)/keymoded.yaml", in: directory)
    #expect(drawn.output == asConfigured.output)
    #expect(drawn.lines.contains("  prepareToEditText --> asleep: yawn"))
    #expect(drawn.lines.last == "  class asleep current")
    let other = try daemon.folder.write("other.yaml", "")
    let ended = try shell("\(graph) --config \(other)", in: directory)
    #expect((ended.status, ended.output) == (1, ""))
    #expect(
      ended.errors
        == "keymodectl: keymoded is in the state 'asleep', which is missing in '\(other)'\n")
  }

  @Test("watch --json prints the state, then lines as replay does, until the daemon ends")
  func watch() throws {
    let daemon = try RunningDaemon()
    let line = Mutex(Ended?.none)
    let watching = Thread { [folder = daemon.folder.path] in
      let ended = try? run("keymodectl", "watch", "--json", "--socket-dir", folder)
      line.withLock { $0 = ended }
    }
    watching.start()
    try wait(for: "a client") { try daemon.ask("stats").lines.contains("clients        2") }
    try daemon.change(1)
    let change = try #require(
      try daemon.client().result("org.keymoded.Controller.GetState")["state"]?["since"]?["shift"])
    #expect(daemon.stop() == 0)
    try wait(for: "the end of the watch") { line.withLock { $0 != nil } }
    let ended = try #require(line.withLock { $0 })
    #expect(ended.status == 3)
    #expect(try JSON(parsing: try #require(ended.lines.first).utf8)["sequence"] == 0)
    #expect(
      ended.lines.dropFirst() == [
        #"{"sequence":1,"time":\#(change.text),"machine":"shift","from":"off","to":"on","event":"shiftPressed"}"#
      ])
  }

  @Test("targets says so where the user has no service manager", arguments: [true, false])
  func noUserManager(_ hasFolder: Bool) throws {
    let folder = try TemporaryFolder()
    let ended = try run(
      "keymodectl", "targets", "--any-session",
      environment: hasFolder ? ["XDG_RUNTIME_DIR": folder.path] : [:])
    #expect(ended.status == 1)
    #expect(
      ended.errors.hasPrefix("keymodectl: cannot connect to 'the user's service manager': No such"))
    #expect(
      ended.errors.hasSuffix("; start this in a session of the user, not by sudo or su\n"))
  }

  @Test(
    "a command without a daemon says so, and how to start one",
    arguments: [
      "state", "trigger tapTextField", "devices", "watch --no-wait", "watch --format x --no-wait",
      "wait shift=on --no-wait", "wait shift=on --timeout 0",
      "wait keyboard=editingText --timeout 5ms",
    ])
  func noDaemon(_ command: String) throws {
    let folder = try TemporaryFolder()
    let ended = try shell("keymodectl \(command) --socket-dir \(folder.path)")
    #expect(ended.status == 3)
    // With a timeout it may have waited first, and then it said so.
    let errors = ended.errors.replacing(/^.*; waiting for it\n/, with: "")
    #expect(errors.hasPrefix("keymodectl: no keymoded listens on '\(folder.path)/"))
    #expect(errors.contains("';\nstart one with 'keymoded --socket-dir \(folder.path)'\n"))
    #expect(!errors.contains("waiting"))
    #expect(errors == ended.errors || command.contains("5ms"))
  }

  @Test(
    "a wrong command line is refused",
    arguments: [
      ("keymodectl", "wacth --lines", "unknown command 'wacth'; did you mean 'watch'?"),
      ("keymodectl", "talk --help", "unknown command 'talk'"),
      (
        "keymodectl", "reload",
        "unknown command 'reload'; 'sudo systemctl reload keymoded' does that"
      ),
      (
        "keymoded", "--check /etc/passwd",
        "unexpected argument '/etc/passwd'; a file needs --config or --recording before it"
      ),
      ("keymodectl", "help state watch", "help takes one command at most"),
      ("keymodectl", "state Shift", "unknown machine 'Shift'; did you mean 'shift'?"),
      ("keymodectl", "replay x --from 2 --until 1", "'--until' is earlier than '--from'"),
      (
        "keymodectl", "wait shift=capslok",
        "unknown state 'capslok' of shift; did you mean 'capsLock'?"
      ),
      (
        "keymodectl", "while shift=on --grace 3d -- true",
        "'3d' is not a time such as 500ms, 2.5s or, in seconds, 2.5"
      ),
      ("keymodectl", "state shift keyboard", "state takes one machine at most"),
      ("keymodectl", "watch shift keyboard", "watch takes one machine at most"),
      (
        "keymodectl", "watch --format '{shift'",
        "invalid '{' in the format; use {shift}, {keyboard}, {caps}, {num}, or {{ for a brace"
      ),
      (
        "keymodectl", "watch --format '{shfit}'",
        "unknown {shfit} in the format; did you mean {shift}?"
      ),
      (
        "keymodectl", "wait showingPanel",
        "'showingPanel' is not MACHINE=STATE; did you mean keyboard=showingPanel?"
      ),
      ("keymodectl", "watch --json --waybar", "--json and --waybar cannot be used together"),
      (
        "keymodectl", "watch --lines --format x", "--lines and --format cannot be used together"
      ),
      ("keymodectl", "state --no-wait", "option '--no-wait' works only with wait, watch and while"),
      (
        "keymodectl", "trigger talk press",
        "trigger takes one event, such as tapTextField or talk.press"
      ),
      (
        "keymodectl", "state talk=open",
        "'talk=open' is not the name of a machine, which has lower-case letters and digits only"
      ),
      (
        "keymodectl", "record typing.yaml",
        "'typing.yaml' is no device such as /dev/input/event3; '--output typing.yaml' is for the recording"
      ),
      ("keymodectl", "wait", "wait takes at least one MACHINE=STATE"),
      ("keymodectl", "wait shift", "'shift' is not MACHINE=STATE"),
      ("keymodectl", "while", "while takes at least one MACHINE=STATE"),
      ("keymodectl", "while -- ls", "while takes at least one MACHINE=STATE"),
      ("keymodectl", "while shift=on ls x", "while takes a command, after '--'"),
      (
        "keymodectl", "watch --timeout 1",
        "option '--timeout' works only with devices, doctor, graph, state, stats, trigger and wait"
      ),
      ("keymodectl", "devices all", "devices takes no operand"),
      ("keymodectl", "shift", "shift takes --caps-lock, --one-shot or both"),
      (
        "keymodectl", "shift --caps-lock --at-most 1s",
        "option '--at-most' works only with --one-shot"
      ),
      (
        "keymodectl", "shift --one-shot --at-most 5.000001s", "'--at-most' takes a time of up to 5s"
      ),
      ("keymodectl", "replay", "replay takes at least one file"),
      ("keymodectl", "replay - -", "standard input can be read only once"),
      ("keymodectl", "state $(printf 'sh\\377ft')", "argument 2 is not UTF-8"),
      ("keymodectl", "replay $(printf 'caf\\351.evemu')", "argument 2 is not UTF-8"),
      ("keymoded", "--recording $(printf '\\377')", "argument 2 is not UTF-8"),
      (
        "keymodectl", "replay x --config -",
        "option '--config' needs a file, not '-'; './-' is a file named '-'"
      ),
      (
        "keymodectl", "replay x --timeline x.svgz",
        "a timeline is drawn as SVG only: 'x.svgz' must end in .svg"
      ),
      ("keymodectl", "state --jsn", "unknown option '--jsn'; did you mean '--json'?"),
      ("keymoded", "--recordng x", "unknown option '--recordng'; did you mean '--recording'?"),
      (
        "keymodectl", "state --format dot",
        "option '--format' works only with graph, replay and watch"
      ),
      (
        "keymodectl", "replay --format dot x",
        "unknown format 'dot'; the formats are\nevemu libinput evtest getevent raw64 raw32"
      ),
      ("keymodectl", "graph", "graph takes one machine, such as shift or keyboard"),
      (
        "keymodectl", "graph capslock",
        "unknown machine 'capslock'; expected shift, keyboard, caps or num"
      ),
      (
        "keymodectl", "graph shift --format png",
        "unknown format 'png'; expected dot or mermaid"
      ),
      (
        "keymodectl", "while shift=on pw-record --rate 48000",
        "unknown option '--rate'; did you mean '--grace'?\n"
          + "write '--' before the command that while runs"
      ),
      ("keymodectl", "while --rate 1 -- true", "unknown option '--rate'; did you mean '--grace'?"),
      ("keymoded", "now", "unexpected argument 'now'"),
      ("keymoded", "--speed 2", "--speed needs --recording"),
      ("keymoded", "--check --recording x", "--check and --recording cannot be used together"),
      ("keymoded", "--check --device x", "--check and --device cannot be used together"),
      (
        "keymoded", "--check --print-config", "--check and --print-config cannot be used together"
      ),
      (
        "keymoded", "--print-config --socket-dir x",
        "--print-config and --socket-dir cannot be used together"
      ),
      ("keymoded", "--recording x --device y", "--recording and --device cannot be used together"),
      (
        "keymoded", "--recording x --speed fast",
        "speed 'fast' is neither a number from 0.001 to 1000 nor 'max'"
      ),
    ])
  func usage(_ program: String, _ arguments: String, _ message: String) throws {
    let ended = try shell("\(program) \(arguments)")
    #expect(ended.status == 2)
    // The help of the command, if it is known; `help` itself has no more to say.
    let word = String(arguments.prefix { $0 != " " })
    let isKnown = program == "keymodectl" && word != "help" && HelpTests.names.contains(word)
    let help = "\(program)\(isKnown ? " \(word)" : "") --help"
    #expect(ended.errors == "\(program): \(message)\ntry '\(help)'\n")
    #expect(ended.output == "")
  }

  @Test("the daemon has private sockets, removes them at its end, and is alone in its folder")
  func sockets() throws {
    let daemon = try RunningDaemon()
    for socket in [daemon.stateSocket, daemon.controlSocket] {
      let attributes = try FileManager.default.attributesOfItem(atPath: socket)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
    let second = try run(
      "keymoded", "--recording", "\(daemon.folder.path)/recording.evemu", "--socket-dir",
      daemon.folder.path)
    #expect(second.status == 1)
    #expect(
      second.errors
        == "keymoded: cannot serve in '\(daemon.folder.path)': process "
        + "\(daemon.process.processIdentifier) (keymoded) serves there; choose another "
        + "directory with --socket-dir\n")
    #expect(try daemon.client().result("org.keymoded.Controller.GetState")["state"] != nil)
    #expect(daemon.stop() == 0)
    #expect(!FileManager.default.fileExists(atPath: daemon.stateSocket))
    #expect(!FileManager.default.fileExists(atPath: daemon.controlSocket))
  }

  @Test("the daemon does not remove a file of another program")
  func foreignFiles() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("state.sock", "mine")
    let recording = try folder.write("silence.evemu", "# EVEMU 1.3\n")
    let ended = try run("keymoded", "--recording", recording, "--socket-dir", folder.path)
    #expect(ended.status == 1)
    #expect(ended.errors == "keymoded: cannot listen on '\(file)': File exists\n")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
    let inFile = try run("keymoded", "--recording", recording, "--socket-dir", recording)
    #expect(inFile.status == 1)
    #expect(inFile.errors == "keymoded: cannot serve in '\(recording)': Not a directory\n")
  }

  @Test("the empty folder of an ended daemon does not hide the service's folder")
  func leftFolder() throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: "\(folder.path)/keymoded", withIntermediateDirectories: false)
    let ended = try run("keymodectl", "state", environment: ["XDG_RUNTIME_DIR": folder.path])
    #expect(!ended.errors.contains(folder.path))
  }
}
