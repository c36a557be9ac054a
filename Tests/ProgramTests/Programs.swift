import Foundation
import TestSupport

/// The paths of what tests use.
enum Place {
  /// The folder of the programs that were built with these tests.
  static let programs: String = {
    let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return (path as NSString).deletingLastPathComponent
  }()
}

/// The Python that has the packages of Tests/requirements.txt.
enum PythonWithPackages {
  /// Its path. The first use installs the packages if some are missing, as `make test` does before all
  /// tests.
  ///
  /// - Throws: ``NotInstalled``.
  static func path() throws -> String { try installed.get() }

  private static let installed = Result {
    let script = "scripts/install-python-tools"
    // The person's own environment, for pip may need a proxy.
    let ended = try run(
      "/usr/bin/timeout", "\(seconds)", "\(checkout)/\(script)",
      environment: ProcessInfo.processInfo.environment)
    guard ended.status == 0 else { throw NotInstalled(script: script, ended: ended) }
    return "\(checkout)/.tools/venv/bin/python"
  }

  /// The packages are large.
  private static let seconds = 600

  /// An error: the script did not install the packages.
  struct NotInstalled: Error, CustomStringConvertible {
    let script: String
    let ended: Ended
    var description: String {
      let reason = ended.status == 124 ? "it took more than \(seconds) s" : ended.errors
      return "'\(script)' did not install the tests' Python packages: \(reason)"
    }
  }
}

/// Runs `keymodectl` with these words, as a client of the daemon in a folder.
func keymodectl(_ words: String, in folder: String) throws -> Ended {
  try run("keymodectl", words.split(separator: " ").map(String.init) + ["--socket-dir", folder])
}

/// What starts another program without the right of root to use every file; nothing for other users.
let withoutRightsOfRoot: [String] = {
  let rights = "-dac_override,-dac_read_search"
  let less = ["/usr/bin/setpriv", "--inh-caps", rights, "--bounding-set", rights]
  return geteuid() == 0 ? less : []
}()

/// Runs a program under test, or the program at a path, and waits for its end.
func run(
  _ program: String, _ arguments: String..., input: String = "", environment: [String: String] = [:]
) throws -> Ended {
  try run(program, arguments, input: input, environment: environment)
}

/// Runs a program under test, or the program at a path, and waits for its end.
func run(
  _ program: String, _ arguments: [String], input: String = "", environment: [String: String] = [:]
) throws -> Ended {
  let path = program.contains("/") ? program : "\(Place.programs)/\(program)"
  return try TestSupport.run(path, arguments, input: input, environment: environment)
}
