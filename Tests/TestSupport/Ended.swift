import Foundation

/// The result of a program that has ended.
public struct Ended: Sendable {
  /// Its exit status; if a signal ended it, 128 plus the signal's number.
  public let status: Int32
  /// What it wrote to standard output.
  public let output: String
  /// What it wrote to standard error.
  public let errors: String
  /// The lines of its output.
  public var lines: [String] { output.split(separator: "\n").map(String.init) }
}

/// The sanitizers' variables in the environment of the tests, which programs under test need too:
/// they say where a sanitizer writes its reports.
public let sanitizerOptions = ProcessInfo.processInfo.environment.filter { name, _ in
  ["ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"].contains(name)
}

/// Runs the program at `path` and waits for its end.
///
/// - Throws: an error of Foundation if the program cannot be started, or if its output is not UTF-8.
public func run(
  _ path: String, _ arguments: [String], input: String = "", environment: [String: String] = [:]
) throws -> Ended {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: path)
  process.arguments = arguments
  process.environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"]
    .merging(sanitizerOptions) { $1 }.merging(environment) { $1 }
  let folder = try TemporaryFolder()
  let files = try [("in", input), ("out", ""), ("err", "")].map { name, text in
    FileHandle(forUpdatingAtPath: try folder.write(name, text))
  }
  (process.standardInput, process.standardOutput, process.standardError) =
    (files[0], files[1], files[2])
  try process.run()
  process.waitUntilExit()
  let signal: Int32 = process.terminationReason == .uncaughtSignal ? 128 : 0
  return Ended(
    status: process.terminationStatus + signal,
    output: try String(contentsOfFile: "\(folder.path)/out", encoding: .utf8),
    errors: try String(contentsOfFile: "\(folder.path)/err", encoding: .utf8))
}
