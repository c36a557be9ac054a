import Foundation
import TestSupport
import Testing

/// A program that runs beside a test, and reads nothing. `deinit` ends it.
final class RunningProgram {
  private let process = Process()
  private let pipe = Pipe()
  private let folder: TemporaryFolder
  private var text = ""

  /// What it has written to standard error.
  var errors: String {
    (try? String(contentsOfFile: "\(folder.path)/errors", encoding: .utf8)) ?? ""
  }
  var isRunning: Bool { process.isRunning }
  var number: Int32 { process.processIdentifier }

  /// Starts a program under test, or the program at a path.
  init(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws {
    folder = try TemporaryFolder()
    let path = program.contains("/") ? program : "\(Place.programs)/\(program)"
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.environment = ["LC_ALL": "C.UTF-8"].merging(sanitizerOptions) { $1 }
      .merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = pipe
    process.standardError = FileHandle(forWritingAtPath: try folder.write("errors", ""))
    try process.run()
  }

  deinit {
    // A program that did not start has no process ID that may be given to kill.
    guard process.isRunning else { return }
    // It may have inherited other signals as blocked from the thread that started it.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// The next line that it prints.
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

  /// Closes its output.
  func closeOutput() throws { try pipe.fileHandleForReading.close() }

  /// Asks it to end by SIGTERM.
  func terminate() { process.terminate() }

  /// Waits for its end, and returns its exit status.
  func end() -> Int32 {
    process.waitUntilExit()
    return process.terminationStatus
  }
}
