import Foundation
import TestSupport
import Testing

@Suite("make run")
struct RunScriptTests {
  @Test("the script shows the states and commands that work, and leaves nothing behind")
  func run() throws {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: "\(Place.checkout)/scripts/run")
    let here = try TemporaryFolder()
    process.arguments = [
      "--config", try here.write("keymoded.yaml", ""),
      "--recording", try here.write("silence.evemu", "# EVEMU 1.3\n"),
    ]
    process.environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "PROGRAMS": Place.programs]
      .merging(sanitizerOptions) { $1 }
    process.standardOutput = pipe
    try process.run()
    defer {
      if process.isRunning {
        process.terminate()
        process.waitUntilExit()
      }
    }
    var text = ""
    while !text.contains(" shift is off, keyboard is prepareToEditText\n") {
      try awaitInput(pipe.fileHandleForReading.fileDescriptor, "make run")
      let data = pipe.fileHandleForReading.availableData
      try #require(!data.isEmpty, "it ended: \(text)")
      text += String(decoding: data, as: UTF8.self)
    }
    #expect(text.hasPrefix("Playing a recording in place of a keyboard.\n"))
    let lines = text.split(separator: "\n").map(String.init)
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
    process.terminate()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(!FileManager.default.fileExists(atPath: folder))
  }
}
