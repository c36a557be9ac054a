import Foundation
import TestSupport
import Testing
import Wire

/// A recording in which Shift is pressed `count` times.
private func presses(_ count: Int) -> String {
  "# EVEMU 1.3\n"
    + (1...count).map { second in
      "E: \(second).000000 0001 002a 0001\nE: \(second).010000 0001 002a 0000\n"
    }.joined()
}

@Suite("keymodectl replay --each")
struct ReplayEachTests {
  private let folder: TemporaryFolder
  private let keymodectl = "\(Place.programs)/keymodectl"

  init() throws { folder = try TemporaryFolder() }

  private func replay(_ arguments: [String], input: String = "") throws -> Ended {
    try run("keymodectl", ["replay", "--each"] + arguments, input: input)
  }

  /// Runs a shell script in the folder, with the program as `$keymodectl`.
  private func shell(_ script: String, input: String = "") throws -> Ended {
    try run(
      "/bin/sh", "-c", "cd '\(folder.path)' && \(script)", input: input,
      environment: ["keymodectl": keymodectl])
  }

  /// What `--json` prints for a recording by itself, with its name at the beginning of each line.
  private func alone(_ file: String, _ options: String...) throws -> String {
    let lines = try run("keymodectl", ["replay", "--json", file] + options).lines
    return lines.map { "{\"file\":\"\(file)\",\($0.dropFirst())\n" }.joined()
  }

  @Test("each recording gives the changes that it gives alone, in the order of the names")
  func json() throws {
    let one = try folder.write("one.evemu", presses(1))
    let three = try folder.write("three.evemu", presses(3))
    let none = try folder.write("none.evemu", "# EVEMU 1.3\n")
    let recordings = "\(checkout)/Tests/RecordingsTests/Recordings"
    let others = ["typing.evemu", "typing.evtest", "typing.raw64", "chords.libinput.yaml"].map {
      "\(recordings)/\($0)"
    }
    let files = [three, none, one, three] + others
    let ended = try replay(["--json"] + files)
    #expect(ended.status == 0)
    #expect(ended.errors == "")
    #expect(
      ended.lines.first
        == #"{"file":"\#(three)","sequence":1,"time":1000000,"machine":"shift","from":"off","#
        + #""to":"on","event":"shiftPressed"}"#)
    #expect(try ended.output == files.map { try alone($0) }.joined())
    #expect(try ended.output != replay(["--json"] + files.reversed()).output)
  }

  @Test("without --json, the name of each recording is above its changes")
  func text() throws {
    _ = try folder.write("one.evemu", presses(1))
    _ = try folder.write("none.evemu", "# EVEMU 1.3\n")
    let ended = try shell("$keymodectl replay --each one.evemu none.evemu")
    #expect(
      ended.output == """
        ==> one.evemu <==
             1.000000  shift     off → on                             shiftPressed
             1.010000  shift is on, keyboard is prepareToEditText

        ==> none.evemu <==
             0.000000  shift is off, keyboard is prepareToEditText

        """)
  }

  @Test("an invalid recording is reported and does not stop the others; the status is 4")
  func invalid() throws {
    _ = try folder.write("good", presses(1))
    _ = try folder.write("bad", presses(1) + "E: 3.000000 0001 01zz 0001\n" + presses(2))
    _ = try folder.write("cut", presses(1) + "E: 3.0000")
    _ = try folder.write("empty", "")
    let files = "bad good missing . cut empty good"
    let ended = try shell("$keymodectl replay --each --json \(files)")
    #expect(ended.status == 4)
    #expect(
      ended.lines.map { $0.prefix(28) } == [
        #"{"file":"bad","sequence":1,""#, #"{"file":"good","sequence":1,"#,
        #"{"file":"cut","sequence":1,""#, #"{"file":"good","sequence":1,"#,
      ])
    let errors = ended.errors.split(separator: "\n")
    let expected = [
      #"bad:4: event code "01zz" is not"#, "missing: No such file or directory",
      ".: Is a directory", "cut:4: the recording is cut off here ", "empty: not a recording",
    ]
    #expect(errors.count == expected.count)
    for (error, beginning) in zip(errors, expected) {
      #expect(error.hasPrefix(beginning), "\(error)")
    }
    // What was printed before a fault stands before it.
    let mixed = try shell("$keymodectl replay --each --json \(files) 2>&1").lines
    #expect(mixed.map { $0.hasPrefix("{") ? "{" : "-" }.joined() == "{-{--{--{")
    // The last recording decides nothing.
    #expect(try shell("$keymodectl replay --each --json missing good").status == 4)
    #expect(try shell("$keymodectl replay --each --json good missing").status == 4)
  }

  @Test("names can have any characters; JSON and errors stay one line for each")
  func names() throws {
    // Printed as octal escapes: what would break JSON or a terminal, and more than ASCII.
    let names: [(octal: String, text: String, shown: String)] = [
      ("a\"b\\\\c", #"a"b\c"#, #"a"b\c"#),
      ("a\\nb\\tc\\033[31m", "a\nb\tc\u{1b}[31m", "a\u{fffd}b\u{fffd}c\u{fffd}[31m"),
      ("\\303\\244\\360\\237\\230\\200 x", "ä😀 x", "ä😀 x"),
    ]
    for name in names {
      // The shell removes line ends at the end of a name only.
      let setting = "name=$(printf '\(name.octal)')"
      _ = try folder.write("good", presses(1))
      let ended = try shell(
        "\(setting); cp good \"$name\" && $keymodectl replay --each --json \"$name\"")
      #expect(ended.status == 0, "\(ended.errors)")
      try #require(ended.lines.count == 1)
      #expect(try JSON(parsing: Array(ended.lines[0].utf8))["file"] == .string(name.text))
      let text = try shell("\(setting); $keymodectl replay --each \"$name\"")
      #expect(text.lines.first == "==> \(name.shown) <==")
      let missing = try shell("\(setting); $keymodectl replay --each --json \"x$name\"")
      #expect(missing.status == 4)
      #expect(missing.errors == "x\(name.shown): No such file or directory\n")
    }
    let other = try shell(
      "name=$(printf '\\351'); cp good $name && $keymodectl replay --json - <$name")
    #expect(other.lines.count == 1, "a file whose name is not UTF-8 can be read as standard input")
  }

  @Test("--lenient counts the errors of each recording, --stats its events")
  func options() throws {
    _ = try folder.write("one", presses(1))
    _ = try folder.write("bad", presses(1) + "E: 3.000000 0001 01zz 0001\nE: 3.0")
    let ended = try shell("$keymodectl replay --each --json --stats --lenient bad one bad")
    #expect(ended.status == 0)
    let skipped = """
      keymodectl: 2 errors skipped; the first is:
      bad:4: event code "01zz" is not hexadecimal of up to four digits (read as evemu)

      """
    #expect(ended.errors == skipped + skipped)
    #expect(ended.lines.count == 6)
    for (line, file) in zip([1, 3, 5], ["bad", "one", "bad"]) {
      let beginning = #"{"file":"\#(file)","stats":{"devices":1,"duration":10000,"#
      #expect(ended.lines[line].hasPrefix(beginning))
    }
    let files = try [1, 3].map { try folder.write("\($0)", presses($0)) }
    let part = try replay(["--json", "--from", "2", "--until", "2.5"] + files)
    #expect(try part.output == alone(files[1], "--from", "2", "--until", "2.5"))
  }

  @Test("standard input can be one of the recordings, and the configuration is read once")
  func input() throws {
    _ = try folder.write("one", presses(1))
    let ended = try shell("$keymodectl replay --each --json one - one", input: presses(2))
    #expect(
      ended.lines.map { $0.prefix(12) } == [
        #"{"file":"one"#, #"{"file":"-","#, #"{"file":"-","#, #"{"file":"one"#,
      ])
    let bad = try shell("$keymodectl replay --each --json - one", input: "x")
    #expect(bad.errors.hasPrefix("<stdin>: ") || bad.errors.hasPrefix("<stdin>:1: "))
    #expect(bad.lines.count == 1)
    // A pipe can be read only once.
    let settings = "shift: { timeout: 3ms }\n"
    let once = try shell(
      "cat | $keymodectl replay --each --json --config /dev/stdin one one", input: settings)
    #expect(once.lines.count == 4, "\(once.errors)")
    #expect(once.lines.count { $0.contains("timedOut") } == 2)
  }

  @Test("a reader that has enough ends it quietly")
  func closedPipe() throws {
    let file = try folder.write("many", presses(200))
    let files = [String](repeating: "'\(file)'", count: 200).joined(separator: " ")
    let ended = try shell(
      "{ $keymodectl replay --each --json \(files); echo $? > status; } | head -n 1; cat status")
    #expect(ended.errors == "")
    #expect(ended.lines.count == 2)
    #expect(ended.lines.last == "0")
  }

  @Test("lines stay whole when several processes write into the same pipe")
  func sharedPipe() throws {
    // The output of one recording is larger than the pipe, so the processes wait for its reader.
    let count = 1500
    for number in 1...8 { _ = try folder.write("\(number)", presses(count)) }
    let lines = try shell(
      "printf '%s ' 1 2 3 4 5 6 7 8 | xargs -n 1 -P 4 $keymodectl replay --each --json | cat"
    ).lines
    #expect(lines.count == 8 * count)
    let line = /\{"file":"[1-8]","sequence":[0-9]+,"time":[0-9]+,"machine":[^}]*ssed"\}/
    #expect(lines.allSatisfy { $0.wholeMatch(of: line) != nil })
  }
}
