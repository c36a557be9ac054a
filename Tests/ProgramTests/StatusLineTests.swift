import Foundation
import JSON
import TestSupport
import Testing

@Suite("keymodectl watch in a status bar")
struct StatusLineTests {
  /// A watch whose output a bar reads.
  private final class Bar {
    private let process = Process()
    private let pipe = Pipe()
    private var text = ""

    init(_ daemon: String, _ arguments: String...) throws {
      process.executableURL = URL(fileURLWithPath: "\(Place.programs)/keymodectl")
      process.arguments = ["watch", "--socket-dir", daemon] + arguments
      process.standardOutput = pipe
      try process.run()
    }

    deinit {
      process.terminate()
      process.waitUntilExit()
    }

    /// Closes the pipe, and returns the exit status of the watch.
    func close() throws -> Int32 {
      try pipe.fileHandleForReading.close()
      try wait(for: "the end of what nobody reads") { !process.isRunning }
      return process.terminationStatus
    }

    /// The next line.
    func line() throws -> String {
      while true {
        if let end = text.firstIndex(of: "\n") {
          defer { text.removeSubrange(...end) }
          return String(text[..<end])
        }
        try awaitInput(pipe.fileHandleForReading.fileDescriptor, "a line")
        let data = pipe.fileHandleForReading.availableData
        try #require(!data.isEmpty, "it has ended")
        text += String(decoding: data, as: UTF8.self)
      }
    }
  }

  @Test("--format prints its text whenever it changes, through restarts")
  func format() throws {
    let daemon = try KeptDaemon()
    let folder = daemon.folder.path
    let both = try Bar(folder, "--format", "{{{shift}}} | {keyboard}")
    let keyboard = try Bar(folder, "--format={keyboard}")
    #expect(try both.line() == "{off} | prepareToEditText")
    #expect(try keyboard.line() == "prepareToEditText")
    try daemon.change(1)
    #expect(try both.line() == "{on} | prepareToEditText")
    daemon.stop()
    #expect(try both.line() == "", "nobody knows")
    try daemon.start()
    #expect(try both.line() == "{on} | prepareToEditText")
    #expect(try keyboard.line() == "", "its text was the same until then")
    #expect(try keyboard.line() == "prepareToEditText")
  }

  @Test("a line never has a state of the old table beside one of the new")
  func halves() throws {
    let daemon = try KeptDaemon()
    let bar = try Bar(daemon.folder.path, "--format", "{shift}|{keyboard}")
    #expect(try bar.line() == "off|prepareToEditText")
    daemon.stop()
    #expect(try bar.line() == "", "nobody knows")
    // The first change of the new daemon leaves a state that its table does not have.
    try daemon.configure(
      "devices: { ignore: [\"*\"] }\nkeyboard: { table: { replaces: true, initial: idle, "
        + "states: [idle, busy], events: [work], rows: { idle: { work: busy } } } }\n")
    try daemon.start()
    #expect(try bar.line() == "off|idle")
  }

  @Test("a watch for a bar can start before the daemon")
  func early() throws {
    let daemon = try KeptDaemon()
    daemon.stop()
    let bar = try Bar(daemon.folder.path, "--waybar", "--format", "{shift}")
    let absent =
      #"{"text":"","alt":"disconnected","tooltip":"no keymoded","class":["disconnected"]}"#
    #expect(try bar.line() == absent)
    try daemon.start()
    let present =
      #"{"text":"off","alt":"off","tooltip":"shift: off\u000akeyboard: prepareToEditText","#
      + #""class":["off","prepareToEditText"]}"#
    let line = try bar.line()
    #expect(line == present)
  }

  @Test("a daemon that does not answer gives an empty line, and is tried again")
  func silent() throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/state.sock"
    let reply =
      #"{"parameters":{"state":{"instance":"i","sequence":1,"time":1,"shift":"off","#
      + #""keyboard":"x"},"changes":[],"missed":0},"continues":true}"#
    let silent = try SilentDaemon(at: path, .saysNothing, reply)
    let bar = try Bar(folder.path, "--format", "{shift}")
    #expect(try bar.line() == "")
    withExtendedLifetime(silent) {}
    let other = try OneAnswer(at: path, reply + "\0")
    #expect(try bar.line() == "off")
    try other.end()
  }

  @Test(
    "a watch ends when its output has no reader, even without changes",
    arguments: ["--waybar", "--format=x", "--lines", "--json"])
  func abandoned(_ option: String) throws {
    let daemon = try KeptDaemon()
    let bar = try Bar(daemon.folder.path, option)
    _ = try bar.line()
    #expect(try bar.close() == 0)
  }

  @Test("--format has the last change of the machine that is watched")
  func step() throws {
    let daemon = try KeptDaemon()
    let bar = try Bar(
      daemon.folder.path, "shift", "--format", "{from} {event} {shift} {keyboard} {since}")
    #expect(try bar.line() == "  off prepareToEditText ")
    try daemon.trigger("shiftPressed")
    #expect(
      try bar.line().wholeMatch(of: /off shiftPressed on prepareToEditText \d\d:\d\d:\d\d/) != nil)
    try daemon.trigger("tapTextField")
    #expect(try bar.line().hasPrefix("off shiftPressed on editingText "))
  }

  @Test("--waybar prints what Waybar reads")
  func waybar() throws {
    let daemon = try KeptDaemon()
    let bar = try Bar(daemon.folder.path, "--waybar")
    _ = try bar.line()
    try daemon.change(2)
    _ = try bar.line()
    let line = try bar.line()
    let json = try JSON(parsing: Array(line.utf8))
    #expect(json["text"] == "capsLock prepareToEditText")
    #expect(json["alt"] == json["text"])
    #expect(json["class"] == ["capsLock", "prepareToEditText"])
    #expect(json["tooltip"] == "shift: capsLock\nkeyboard: prepareToEditText")
  }

  @Test(
    "invalid formats and options are refused",
    arguments: [
      (
        "--format '{caps}'",
        "invalid '{' in the format; use {shift}, {keyboard}, {event}, {from}, {since}, or {{ for a brace"
      ),
      (
        "--format '{shift'",
        "invalid '{' in the format; use {shift}, {keyboard}, {event}, {from}, {since}, or {{ for a brace"
      ),
      ("--format 'x}'", "invalid '}' in the format; use }} for a brace"),
      ("--json --waybar", "--json and --waybar cannot be used together"),
      ("--lines --format x", "--lines and --format cannot be used together"),
      ("--json --waybar --format x", "--json and --waybar cannot be used together"),
    ])
  func usage(_ options: String, _ message: String) throws {
    let ended = try run("/bin/sh", "-c", "'\(Place.programs)/keymodectl' watch \(options)")
    #expect(ended.status == 2)
    #expect(ended.errors == "keymodectl: \(message)\ntry 'keymodectl watch --help'\n")
    #expect(ended.output == "")
  }
}
