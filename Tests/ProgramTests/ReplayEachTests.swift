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

  init() throws { folder = try TemporaryFolder() }

  /// Runs a shell script in the folder, with the program as `$keymodectl`.
  private func shell(_ script: String, input: String = "") throws -> Ended {
    try run(
      "/bin/sh", ["-c", "cd '\(folder.path)' && \(script)"], input: input,
      environment: ["keymodectl": "\(Place.programs)/keymodectl"])
  }

  /// What `--json` prints for a recording by itself, with its name at the beginning of each line.
  private func alone(_ file: String, _ options: String...) throws -> String {
    let lines = try run("keymodectl", ["replay", "--json", file] + options).lines
    // Without the states at the start and at the end.
    return lines.dropFirst().dropLast().map { "{\"file\":\"\(file)\",\($0.dropFirst())\n" }.joined()
  }

  @Test("each recording gives the changes that it gives alone, in the order of the names")
  func json() throws {
    let one = try folder.write("one.evemu", presses(1))
    let three = try folder.write("three.evemu", presses(3))
    let recordings = "\(checkout)/Tests/RecordingsTests/Recordings"
    let files =
      [three, one, three]
      + ["typing.evemu", "typing.evtest", "typing.raw64"].map { "\(recordings)/\($0)" }
    let ended = try run("keymodectl", ["replay", "--each", "--json"] + files)
    #expect(ended.status == 0)
    #expect(ended.errors == "")
    #expect(
      ended.lines.first
        == #"{"file":"\#(three)","sequence":1,"time":1000000,"machine":"shift","from":"off","#
        + #""to":"on","event":"shiftPressed"}"#)
    #expect(try ended.output == files.map { try alone($0) }.joined())
    let listed = try run(
      "keymodectl", "replay", "--each", "--json", "--files0-from", "-", files[0],
      input: files.dropFirst().joined(separator: "\0"))
    #expect(listed.output == ended.output, "operands come before the list, whose last NUL may lack")
    let part = try run(
      "keymodectl", "replay", "--each", "--json", "--from", "2", "--until", "2.5", one, three)
    #expect(try part.output == alone(three, "--from", "2", "--until", "2.5"))
  }

  @Test("without --each, the recordings of a list are merged as those of operands are")
  func merged() throws {
    for count in 1...2 { _ = try folder.write("\(count)", presses(count)) }
    let merged = try shell("$keymodectl replay 1 2")
    #expect(merged.status == 0)
    #expect(merged.lines.count > 1)
    let listed = try shell("printf '1\\0002\\000' >list; $keymodectl replay --files0-from list")
    #expect(listed.output == merged.output)
    #expect((listed.status, listed.errors) == (0, ""))
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
    #expect(ended.errors == "keymodectl: no event of a key or an LED was read from 'none.evemu'\n")
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
    let named = ended.lines.map { $0.prefix { $0 != "," } }
    #expect(named == ["bad", "good", "cut", "good"].map { "{\"file\":\"\($0)\"" })
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
    let lenient = try shell("$keymodectl replay --each --json --lenient bad good")
    #expect(lenient.status == 0)
    #expect(lenient.errors.hasPrefix("keymodectl: 1 error skipped:\nbad:4: "))
  }

  @Test("names can have any characters; JSON and errors stay one line for each")
  func names() throws {
    _ = try folder.write("good", presses(1))
    // Printed as octal escapes: what would break JSON or a terminal, and more than ASCII.
    let names: [(octal: String, text: String, shown: String)] = [
      ("a\"b\\\\c", #"a"b\c"#, #"a"b\c"#),
      ("a\\nb\\tc\\033[31m", "a\nb\tc\u{1b}[31m", "a\u{fffd}b\u{fffd}c\u{fffd}[31m"),
      ("\\303\\244\\360\\237\\230\\200 x", "ä😀 x", "ä😀 x"),
    ]
    for name in names {
      let replay = "$keymodectl replay --each --files0-from -"
      let ended = try shell(
        "name=$(printf '\(name.octal)'); cp good \"$name\"; "
          + "printf '%s\\000x%s\\000' \"$name\" \"$name\" | \(replay) --json")
      #expect(ended.status == 4)
      try #require(ended.lines.count == 1)
      #expect(try JSON(parsing: Array(ended.lines[0].utf8))["file"] == .string(name.text))
      #expect(ended.errors == "x\(name.shown): No such file or directory\n")
      let text = try shell("printf '\(name.octal)' | \(replay)")
      #expect(text.lines.first == "==> \(name.shown) <==")
    }
    // A file whose name is like what is shown of the other name.
    let other = try shell(
      "cp good '\u{fffd}'; cp good $(printf '\\351'); "
        + "printf '\\351\\000good\\000' | $keymodectl replay --each --json --files0-from -")
    #expect(other.status == 4)
    #expect(other.errors == "\u{fffd}: the name is not UTF-8\n")
    #expect(other.lines.count == 1)
  }

  @Test("standard input can be one of the recordings, and the configuration is read once")
  func input() throws {
    _ = try folder.write("one", presses(1))
    let ended = try shell("$keymodectl replay --each --json one - one", input: presses(2))
    #expect(
      ended.lines.map { $0.prefix(12) } == [
        #"{"file":"one"#, #"{"file":"-","#, #"{"file":"-","#, #"{"file":"one"#,
      ])
    // A pipe can be read only once.
    let once = try shell(
      "cat | $keymodectl replay --each --json --config /dev/stdin one one",
      input: "shift: { threshold: 20ms }\n")
    #expect(once.status == 0, "\(once.errors)")
    #expect(once.lines.count == 2)
  }

  @Test(
    "what cannot be done together is an error",
    arguments: [
      ("--each --timeline x.svg good", 2, "option '--timeline' does not work with '--each'"),
      ("--each - --files0-from -", 2, "standard input can be read only once"),
      ("--each --files0-from /dev/null", 2, "replay takes at least one file"),
      ("--each --files0-from missing", 1, "missing"),
    ])
  func refused(_ options: String, _ status: Int32, _ error: String) throws {
    let ended = try shell("$keymodectl replay \(options)")
    #expect((ended.status, ended.output) == (status, ""))
    #expect(ended.errors.contains(error), "\(ended.errors)")
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
}
