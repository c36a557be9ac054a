import Foundation
import TestSupport
import Testing

/// Where things are.
enum Place {
  /// The folder of the programs that were built with these tests.
  static let programs: String = {
    let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return (path as NSString).deletingLastPathComponent
  }()

  /// The checkout.
  static let checkout: String = {
    let url = URL(fileURLWithPath: #filePath)
    return url.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .path
  }()

  /// The Python that has the packages the tests need.
  static var python: String { "\(checkout)/.tools/venv/bin/python" }
}

/// How a program ended.
struct Ended {
  let status: Int32
  let output: String
  let errors: String
  var lines: [String] { output.split(separator: "\n").map(String.init) }
}

/// Runs a program to its end.
///
/// - Parameter program: a path, or the name of one of the programs under test.
func run(
  _ program: String, _ arguments: String..., input: String = "", environment: [String: String] = [:]
) throws -> Ended {
  let process = Process()
  process.executableURL = URL(
    fileURLWithPath: program.contains("/") ? program : "\(Place.programs)/\(program)")
  process.arguments = arguments
  process.environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"]
    .merging(environment) { $1 }
  let folder = try TemporaryFolder()
  let files = try ["in", "out", "err"].map { name in
    let path = try folder.write(name, name == "in" ? input : "")
    return try #require(FileHandle(forUpdatingAtPath: path))
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
