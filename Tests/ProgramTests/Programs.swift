import Foundation
import TestSupport

/// The paths of what tests use.
enum Place {
  /// The folder of the programs that were built with these tests.
  static let programs: String = {
    let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return (path as NSString).deletingLastPathComponent
  }()

  /// The root of the checkout.
  static let checkout: String = {
    let url = URL(fileURLWithPath: #filePath)
    return url.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .path
  }()

  /// The Python that has the packages the tests need.
  static var python: String { "\(checkout)/.tools/venv/bin/python" }
}

/// Runs a program under test, or the program at a path, and waits for its end.
func run(
  _ program: String, _ arguments: String..., input: String = "", environment: [String: String] = [:]
) throws -> Ended {
  let path = program.contains("/") ? program : "\(Place.programs)/\(program)"
  return try TestSupport.run(path, arguments, input: input, environment: environment)
}
