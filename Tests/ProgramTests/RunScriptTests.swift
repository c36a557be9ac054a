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
}
