import Foundation
import TestSupport
import Testing
import Wire

/// Two seconds of a chat, as a person would type it.
private let chat = """
  # EVEMU 1.3
  N: a keyboard
  I: 0003 046d c31c 0110
  E: 0.000001 0004 0004 458977
  E: 0.000001 0001 002a 0001
  E: 0.000001 0000 0000 0000
  E: 0.080001 0001 002a 0000
  E: 0.080001 0000 0000 0000
  E: 0.300001 0001 002a 0001
  E: 0.300001 0000 0000 0000
  E: 0.380001 0001 002a 0000
  E: 0.900001 0001 0046 0001
  E: 0.950001 0001 0046 0000
  E: 1.100001 0001 007f 0001
  E: 1.150001 0001 007f 0000
  E: 1.200001 0001 006e 0001
  E: 1.250001 0001 006e 0000
  E: 1.300001 0001 0001 0001
  E: 1.350001 0001 0001 0000
  E: 1.900001 0001 002a 0001
  E: 1.950001 0001 002a 0000
  E: 2.000001 0001 002a 0001
  E: 2.050001 0001 002a 0000
  E: 2.100001 0001 001e 0001
  E: 2.150001 0001 001e 0000

  """

@Suite("keymodectl replay")
struct ReplayTests {
  private static let expected = """
    {"instance":"replay","sequence":0,"time":1,"shiftTrigger":"press","states":{"shift":"off","keyboard":"prepareToEditText","caps":"unknown","num":"unknown"},"since":{}}
    {"sequence":1,"time":1,"machine":"shift","from":"off","to":"on","event":"shiftPressed"}
    {"sequence":2,"time":300001,"machine":"shift","from":"on","to":"capsLock","event":"shiftPressed"}
    {"sequence":3,"time":900001,"machine":"keyboard","from":"prepareToEditText","to":"prepareToRecord","event":"clickSwitchButton"}
    {"sequence":4,"time":1100001,"machine":"keyboard","from":"prepareToRecord","to":"showingPanel","event":"clickMoreButton"}
    {"sequence":5,"time":1200001,"machine":"keyboard","from":"showingPanel","to":"editingText","event":"tapTextField"}
    {"sequence":6,"time":1300001,"machine":"keyboard","from":"editingText","to":"prepareToEditText","event":"tapBlankArea"}
    {"sequence":7,"time":1900001,"machine":"shift","from":"capsLock","to":"off","event":"shiftPressed"}
    {"sequence":8,"time":2000001,"machine":"shift","from":"off","to":"on","event":"shiftPressed"}
    {"sequence":9,"time":2100001,"machine":"shift","from":"on","to":"off","event":"characterTyped"}
    {"instance":"replay","sequence":9,"time":2150001,"shiftTrigger":"press","states":{"shift":"off","keyboard":"prepareToEditText","caps":"unknown","num":"unknown"},"since":{"shift":2100001,"keyboard":1300001}}

    """

  @Test("--json prints the states at the start, a line for each change, and the states at the end")
  func json() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("chat.evemu", chat)
    let ended = try run("keymodectl", "replay", "--json", file)
    #expect(ended.status == 0)
    #expect(ended.errors == "")
    #expect(ended.output == Self.expected)
    #expect(try run("keymodectl", "--json", "replay", "-", input: chat).output == Self.expected)
  }

  /// The lines of changes, without those of states.
  private func changes(in output: String) -> String {
    output.split(separator: "\n").filter { !$0.contains("instance") }.map { $0 + "\n" }.joined()
  }

  @Test("with LC_ALL=C, an arrow is two characters of ASCII")
  func ascii() throws {
    for (environment, arrow) in [
      (["LC_ALL": "C"], "->"), (["LC_ALL": "", "LANG": "de_DE.UTF-8"], "→"),
      (["LC_ALL": "", "LC_CTYPE": "de_DE.ISO-8859-1", "LANG": "en_US.utf8"], "->"),
      (["LC_ALL": ""], "→"),
    ] {
      let ended = try run("keymodectl", "replay", "-", input: chat, environment: environment)
      let step = ended.lines.first?.dropFirst(25).split(separator: " ").prefix(3)
      #expect(step?.joined(separator: " ") == "off \(arrow) on")
    }
  }

  @Test("a recording that is not there is an error of the program")
  func notThere() throws {
    let ended = try run("keymodectl", "replay", "nosuch")
    #expect((ended.status, ended.output) == (4, ""))
    #expect(ended.errors == "keymodectl: nosuch: No such file or directory\n")
    let other = try run("keymodectl", "graph", "shift", "--config", "nosuch")
    #expect(other.errors == "keymodectl: nosuch: No such file or directory\n")
    let daemon = try run("keymoded", "--recording", "nosuch")
    #expect(daemon.errors == "keymoded: nosuch: No such file or directory\n")
  }

  @Test("without --json, a change is a line of at most 80 columns")
  func human() throws {
    let ended = try run("keymodectl", "replay", "-", input: chat)
    #expect(ended.status == 0)
    #expect(
      ended.lines.first
        == "     0.000001  shift     off → on                             shiftPressed")
    #expect(ended.lines.count == 10)
    #expect(ended.lines.last == "     2.150001  shift is off, keyboard is prepareToEditText")
    #expect(ended.lines.allSatisfy { $0.count <= 80 })
    let dated = chat.replacing("E: ", with: "E: 133005018")
    let old = try run("keymodectl", "replay", "-", input: dated)
    #expect(old.lines == ended.lines, "of dates only the seconds since the first event are shown")
  }

  @Test(
    "the daemon publishes the changes of replay, at any speed", arguments: ["max", "10"])
  func likeLive(_ speed: String) throws {
    let daemon = try RunningDaemon(recording: chat, speed: speed)
    let lines = try firstChanges(9, of: daemon).map { $0.text + "\n" }.joined()
    #expect(lines == changes(in: Self.expected))
    let after = try daemon.client().result("org.keymoded.Controller.GetState")["state"]
    #expect(after?["sequence"] == 9)
    let time = try #require(after?["time"]?.integer)
    #expect(time >= 2_100_001, "the recorded time goes on")
  }

  /// A press of Shift whose switch bounces, and 10 s later F5, a key without a meaning.
  private static let habits = """
    # EVEMU 1.3
    N: a keyboard
    E: 1.000000 0001 002a 0001
    E: 1.001000 0001 002a 0000
    E: 1.005999 0001 002a 0001
    E: 1.080000 0001 002a 0000
    E: 11.000000 0001 003f 0001

    """

  @Test(
    "a timeout acts at its own time, and a bounce is not a press, in replay and in a daemon",
    arguments: ["max", "100"])
  func habits(_ speed: String) throws {
    let settings = "shift: { timeout: 3s }\ndebounce: 5ms\n"
    let folder = try TemporaryFolder()
    let file = try folder.write("k.yaml", settings)
    let replay = ["replay", "-", "--json"]
    func replayed(_ options: String...) throws -> [String] {
      try Array(
        run("keymodectl", replay + options, input: Self.habits).lines.dropFirst().dropLast())
    }
    let expected = [
      #"{"sequence":1,"time":1000000,"machine":"shift","from":"off","to":"on","event":"shiftPressed"}"#,
      #"{"sequence":2,"time":4000000,"machine":"shift","from":"on","to":"off","event":"timedOut"}"#,
    ]
    #expect(try replayed("--config", file) == expected)
    #expect(try replayed("--config", file, "--until", "3.999999") == expected.dropLast())
    #expect(try replayed().count == 2)
    let daemon = try RunningDaemon(recording: Self.habits, speed: speed, configuration: settings)
    #expect(try firstChanges(2, of: daemon).map(\.text) == expected)
  }

  /// The first changes of a daemon, at least `count`.
  private func firstChanges(_ count: Int, of daemon: RunningDaemon) throws -> [JSON] {
    let client = try daemon.client()
    let state = try #require(try client.result("org.keymoded.Controller.GetState")["state"])
    try client.call(
      "org.keymoded.Controller.Monitor", ["after": 0, "instance": state["instance"] ?? nil],
      more: true)
    var changes: [JSON] = []
    while changes.count < count {
      changes += try client.reply()["parameters"]?["changes"]?.array ?? []
    }
    return changes
  }

  @Test("a replay has all devices, and 'devices: { pointers: no }' applies to their buttons")
  func devices() throws {
    let folder = try TemporaryFolder()
    let click =
      "# EVEMU 1.3\nN: Mouse\nE: 1.000000 0001 002a 0001\nE: 2.000000 0001 0110 0001\n"
    func replayed(_ devices: String) throws -> Int {
      let file = try folder.write("k.yaml", "devices: { \(devices) }\n")
      return try run("keymodectl", "replay", "-", "--config", file, "--json", input: click)
        .lines.count - 2
    }
    #expect(try replayed(#"ignore: ["*"]"#) == 2)
    #expect(try replayed(#"only: ["another"]"#) == 2)
    #expect(try replayed("pointers: no") == 1)
  }

  @Test("a bad line is reported with its number, after the changes before it")
  func badLine() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("typing.evemu", chat + "E: 3.000000 0001 01zz 0001\n")
    let ended = try run("keymodectl", "replay", "--json", file)
    #expect(ended.status == 4)
    #expect(
      ended.errors
        == "\(file):26: event code \"01zz\" is not hexadecimal of up to four digits "
        + "(read as evemu)\n")
    let untilThere = Self.expected.split(separator: "\n").dropLast().map { "\($0)\n" }.joined()
    #expect(ended.output == untilThere, "no states at an end that is not reached")
    let torn = try run("keymodectl", "replay", "--json", "-", input: chat + "E: 3.0000")
    #expect(torn.status == 4)
    #expect(torn.errors == "<stdin>:26: the recording is cut off here (read as evemu)\n")
    #expect(torn.output == untilThere)
  }

  @Test("--lenient says which fault it skipped; the end and the timeline are still there")
  func lenient() throws {
    let folder = try TemporaryFolder()
    let bad = chat.replacing("E: 0.900001 0001 0046 0001", with: "E: 0.900001 0001 zz")
    let picture = "\(folder.path)/picture.svg"
    let ended = try run(
      "keymodectl", "replay", "-", "--lenient", "--timeline", picture, input: bad)
    #expect(ended.status == 0)
    #expect(
      ended.errors == """
        keymodectl: 1 error skipped:
        <stdin>:12: event code "zz" is not hexadecimal of up to four digits (read as evemu)

        """)
    #expect(ended.lines.last == "     2.150001  shift is off, keyboard is prepareToEditText")
    #expect(try String(contentsOfFile: picture, encoding: .utf8).hasSuffix("</svg>\n"))
  }

  @Test("a slow reader of a non-blocking pipe gets the complete output")
  func slowReader() throws {
    let folder = try TemporaryFolder()
    let presses = (1...2000).map { number in
      "E: \(number).000001 0001 002a 0001\nE: \(number).000002 0001 002a 0000\n"
    }
    let file = try folder.write("long.evemu", "# EVEMU 1.3\n" + presses.joined())
    let process = Process()
    let pipe = Pipe()
    let writing = pipe.fileHandleForWriting.fileDescriptor
    #expect(fcntl(writing, F_SETFL, O_NONBLOCK) == 0)
    process.executableURL = URL(fileURLWithPath: "\(Place.programs)/keymodectl")
    process.arguments = ["replay", "--json", file]
    process.standardOutput = pipe
    try process.run()
    try pipe.fileHandleForWriting.close()
    // Waits until the pipe has no more room.
    let reading = pipe.fileHandleForReading
    let capacity = 65_536
    var waiting: Int32 = 0
    try wait(for: "a full pipe") {
      #expect(ioctl(reading.fileDescriptor, UInt(FIONREAD), &waiting) == 0)
      return waiting >= capacity - 8192
    }
    let text = String(decoding: reading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(text.split(separator: "\n").count == 2002)
    #expect(text.utf8.count > 2 * capacity)
  }

  @Test("--from and --until show a part, with the states that the events before it led to")
  func window() throws {
    let ended = try run("keymodectl", "replay", "-", "--from", "0.9", "--until", "1.2", input: chat)
    #expect(
      ended.lines == [
        "     0.900001  keyboard  prepareToEditText → prepareToRecord  clickSwitchButton",
        "     1.100001  keyboard  prepareToRecord → showingPanel       clickMoreButton",
        "     1.150001  shift is capsLock, keyboard is showingPanel",
      ])
    let json = try run(
      "keymodectl", "replay", "-", "--json", "--from", "0.9", "--until", "1.2", input: chat)
    let states = try [#require(json.lines.first), #require(json.lines.last)].map {
      try JSON(parsing: $0.utf8)
    }
    #expect(json.lines.count == 4)
    #expect(states.map { $0["time"] } == [900_000, 1_150_001])
    #expect(states.map { $0["states"]?["shift"] } == ["capsLock", "capsLock"])
    #expect(states.map { $0["states"]?["keyboard"] } == ["prepareToEditText", "showingPanel"])
    #expect(states.map { $0["sequence"] } == [2, 4])
  }

  @Test("--timeline draws the recording")
  func timeline() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("chat & more.evemu", chat)
    let picture = "\(folder.path)/out.svg"
    let ended = try run("keymodectl", "replay", file, "--timeline", picture)
    #expect(ended.status == 0)
    #expect(ended.lines.count == 10)
    let svg = try String(contentsOfFile: picture, encoding: .utf8)
    #expect(svg.hasPrefix("<svg "))
    #expect(svg.contains("chat &amp; more.evemu"))
    #expect(svg.contains("capsLock"))
    let refused = try run("keymodectl", "replay", file, "--timeline", "/nowhere/out.svg")
    #expect(refused.status == 1)
    #expect(refused.errors.contains("cannot open '/nowhere/out.svg': No such file or directory"))
  }

  @Test("a recording of which nothing is read is told of, and --format says what it looks like")
  func nothing() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("silent.evemu", "# EVEMU 1.3\nN: a keyboard\n")
    let replayed = try run("keymodectl", "replay", "--json", file)
    #expect(
      (replayed.status, replayed.lines.count) == (0, 2), "the states at the start and the end")
    #expect(
      replayed.errors == "keymodectl: no event of a key or an LED was read from '\(file)'\n")
    let other = try run("keymodectl", "replay", "--format", "evtest", file)
    #expect(
      other.errors == """
        \(file):1: neither an event nor a line of evtest's header (read as evtest, but it looks like \
        evemu)

        """)
    #expect((other.status, other.output) == (4, ""))
  }

  @Test(
    "a file that is not a recording is refused with the names of all formats",
    arguments: [
      [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0x49, 0x48, 0x44, 0x52],
      Array("a letter\nof two lines\n".utf8), [],
    ] as [[UInt8]])
  func unknownFormat(_ bytes: [UInt8]) throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("picture.png", bytes)
    let error =
      "\(file): not a recording in a known format (evemu, libinput, evtest, getevent, raw)\n"
    let replayed = try run("keymodectl", "replay", file)
    #expect((replayed.status, replayed.output, replayed.errors) == (4, "", "keymodectl: \(error)"))
    let played = try run("keymoded", "--recording", file, "--socket-dir", folder.path)
    #expect((played.status, played.errors) == (4, "keymoded: \(error)"))
    // With --format the error says what is wrong with the file in that format.
    let named = try run("keymodectl", "replay", "--format", "evemu", file)
    #expect(named.status == 4 && !named.errors.contains("known format"))
  }

  @Test(
    "replay needs less than 5 MB besides the program, however much it reads",
    arguments: ["evemu", "libinput"])
  func memory(_ kind: String) throws {
    let program = """
      import resource, subprocess, sys
      kind, path, count = *sys.argv[1:3], 200_000
      peak = lambda: resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
      subprocess.run([path, "--version"], stdout=subprocess.DEVNULL)
      program = peak()
      child = subprocess.Popen(
          [path, "replay", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
      write = lambda text: child.stdin.write(text.encode())
      if kind == "libinput": write("ndevices: 1\\ndevices:\\n- node: x\\n  events:\\n")
      for number in range(count):
          second, code, value = number // 10, (42, 30, 110, 1)[number // 2 % 4], 1 - number % 2
          if kind == "evemu":
              write(f"E: {second}.000000 0001 {code:04x} {value:04d}\\n")
          else:
              write(f"  - evdev:\\n    - [{second}, 0, 1, {code}, {value}]\\n")
      child.stdin.close()
      print(child.wait(), peak() - program)
      """
    let ended = try run(
      "/usr/bin/python3", "-c", program, kind, "\(Place.programs)/keymodectl")
    let numbers = ended.lines.first?.split(separator: " ").compactMap { Int($0) } ?? []
    #expect(ended.errors == "")
    #expect(numbers.first == 0)
    let memory = try #require(numbers.last)
    #expect(memory < 5 << 10, "KiB")
  }

  @Test("the daemon plays a recording of keymodectl from its first event on")
  func servedWithHeldKeys() throws {
    // The machine had been up for a day, and Enter was down when the recording began.
    let daemon = try RunningDaemon(
      recording: """
        version: 1
        ndevices: 1
        devices:
        - node: /dev/input/event0
          events:
          - keymoded: {held: [28]}
          - evdev:
            - [90000,      0,   1,  28,       0]
            - [90000,   1000,   1,  42,       1]

        """, speed: "1")
    let ended = try daemon.ask("wait", "shift=on", "--timeout", "\(boundSeconds)")
    #expect(ended.status == 0)
  }
}
