import Foundation
import TestSupport
import Testing

@Suite("make run")
struct RunScriptTests {
  @Test("the script shows the states and commands that work, and leaves nothing behind")
  func run() throws {
    let here = try TemporaryFolder()
    let script = try RunningProgram(
      "\(checkout)/scripts/run",
      [
        "--config", here.write("keymoded.yaml", ""),
        "--recording", here.write("silence.evemu", "# EVEMU 1.3\n"),
      ], environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "PROGRAMS": Place.programs])
    defer { script.terminate() }
    var lines: [String] = []
    // These come from two programs, in any order.
    for end in [" shift is off, keyboard is prepareToEditText", " has ended. Ctrl+C ends this."] {
      while !lines.contains(where: { $0.hasSuffix(end) }) { lines.append(try script.line()) }
    }
    #expect(lines.first == "Playing a recording in place of a keyboard.")
    #expect(lines.allSatisfy { $0.count <= 80 || $0.hasPrefix("  ") })
    let commands = lines.filter { $0.hasPrefix("  ") && !$0.contains(" is off") }
    #expect(commands.count == 3)
    let tried = try ProgramTests.run("/bin/sh", "-c", commands.joined(separator: "\n"))
    #expect(tried.status == 0)
    #expect(
      tried.output == """
        shift     off
        keyboard  prepareToEditText
        shift     off
        keyboard  showingPanel

        """)
    let folder = try #require(commands[0].split(separator: "'").last.map(String.init))
    #expect(FileManager.default.fileExists(atPath: folder))
    script.terminate()
    #expect(script.end() == 0)
    #expect(!FileManager.default.fileExists(atPath: folder))
  }

  @Test("with sudo, the commands are for the user who called it", .enabled(if: geteuid() == 0))
  func sudo() throws {
    // The checkout may be where only root has access.
    let here = try TemporaryFolder()
    let copied = try ProgramTests.run(
      "/bin/sh", "-c",
      "cp '\(Place.programs)/keymoded' '\(Place.programs)/keymodectl' '\(here.path)' && chmod 755 '\(here.path)'"
    )
    try #require(copied.status == 0)
    let script = try RunningProgram(
      "\(checkout)/scripts/run", ["--config", "\(checkout)/data/recipes/push-to-talk.yaml"],
      environment: [
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "PROGRAMS": here.path, "SUDO_UID": "65534",
      ])
    defer { script.terminate() }
    var commands: [String] = []
    while commands.count < 3 {
      let line = try script.line()
      if line.hasPrefix("  ") { commands.append(line) }
    }
    commands += ["  '\(here.path)/keymodectl' trigger talk.press"]
    let user = ["--reuid", "65534", "--regid", "65534", "--clear-groups", "/bin/sh", "-c"]
    let tried = try ProgramTests.run("/usr/bin/setpriv", user + [commands.joined(separator: "\n")])
    #expect((tried.status, tried.errors) == (0, ""))
    #expect(tried.lines.last == "talk      talking")
    script.terminate()
    #expect(script.end() == 0)
  }

  @Test("make run names what it does, without the compiler's options")
  func progress() throws {
    let ended = try Installation(prefix: "/usr").run(
      """
      cp -r '\(checkout)/scripts' .
      printf '#!/bin/sh\necho "Swift version 6.0.3"' >swift; chmod 755 swift
      rm -r .build
      make run SWIFT="$PWD/swift" || :
      """)
    #expect(ended.output.contains("\nCompiling keymoded and keymodectl\nSwift version 6.0.3"))
    #expect(ended.lines.allSatisfy { $0.count < 160 }, "\(ended.output)")
  }
}
