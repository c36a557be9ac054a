import Foundation
import TestSupport
import Testing

/// A running `keymodectl while`, and all processes that it has started, wherever they are now.
final class RunningWhile {
  private let process = Process()
  private let mark = "KEYMODED_TEST_MARK=\(UUID().uuidString)"
  let folder: TemporaryFolder

  /// What the command has written into the file `log`, by lines.
  var log: [String] { lines("log") }
  /// What keymodectl has written to standard error.
  var errors: String { lines("err").joined(separator: "\n") }

  var number: Int32 { process.processIdentifier }

  /// - Parameters:
  ///   - daemon: the folder of its sockets.
  ///   - arguments: what follows `while`. In a shell command `log` is the file ``log``.
  ///   - anySession: whether sessions are not looked at.
  ///   - outer: the path and arguments of a program that executes keymodectl in its place.
  init(
    _ daemon: String, _ arguments: [String], anySession: Bool = true, under outer: [String] = []
  ) throws {
    folder = try TemporaryFolder()
    _ = try folder.write("log", "")
    let errors = try folder.write("err", "")
    let words =
      outer + ["\(Place.programs)/keymodectl", "while"] + (anySession ? ["--any-session"] : [])
      + ["--socket-dir", daemon] + arguments
    process.executableURL = URL(fileURLWithPath: words[0])
    process.arguments = Array(words.dropFirst())
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    let parts = mark.split(separator: "=").map(String.init)
    process.environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", parts[0]: parts[1]]
      .merging(sanitizerOptions) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle(forWritingAtPath: errors)
    try process.run()
    try wait(for: "the guardian") { guardian != nil || !process.isRunning }
  }

  /// Runs a shell command while the keyboard is in editingText.
  convenience init(
    _ daemon: KeptDaemon, _ options: [String] = [], shell script: String
  ) throws {
    try self.init(
      daemon.folder.path, options + ["keyboard=editingText", "--", "/bin/sh", "-c", script])
  }

  deinit {
    for number in processes { kill(number, SIGKILL) }
    process.waitUntilExit()
  }

  private func lines(_ name: String) -> [String] {
    let text = try? String(contentsOfFile: "\(folder.path)/\(name)", encoding: .utf8)
    return (text ?? "").split(separator: "\n").map(String.init)
  }

  /// Makes the file that a command waits for.
  func write(_ name: String) throws { _ = try folder.write(name, "") }

  /// The processes that run, keymodectl and the guardian too: they have all inherited a variable.
  var processes: Set<Int32> {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    let marked = Data(mark.utf8)
    return Set(
      names.compactMap(Int32.init).filter { number in
        // A process that has ended has no environment, even if nothing waits for it.
        FileManager.default.contents(atPath: "/proc/\(number)/environ")?.range(of: marked) != nil
      })
  }

  /// The command's processes.
  var command: Set<Int32> { processes.subtracting([number, guardian ?? 0]) }

  /// The command's processes by this name.
  func command(named name: String) -> Set<Int32> { command.filter { Self.name($0) == name } }

  /// Before its `execvp`, the command's first process has the name of the guardian too.
  var guardian: Int32? { processes.filter { Self.name($0) == "keymode-guard" }.min() }

  private static func name(_ number: Int32) -> String? {
    (try? String(contentsOfFile: "/proc/\(number)/comm", encoding: .utf8))?
      .trimmingCharacters(in: .newlines)
  }

  /// Waits until the command has written just these lines.
  func awaitLog(_ lines: String...) throws {
    do {
      try wait(for: "\(lines)") { log == lines }
    } catch {
      Issue.record("\(log), \(errors)")
      throw error
    }
  }

  /// Waits until nothing of the command is left.
  func awaitNoCommand() throws { try wait(for: "the end of the command") { command.isEmpty } }

  /// Waits until neither keymodectl nor anything that it started is left.
  func awaitNothing() throws { try wait(for: "the end of all") { processes.isEmpty } }

  /// Waits for the end of keymodectl, and returns its exit status, or that of a shell for a signal.
  func end() -> Int32 {
    process.waitUntilExit()
    let signal: Int32 = process.terminationReason == .uncaughtSignal ? 128 : 0
    return process.terminationStatus + signal
  }

  /// How often the threads of keymodectl and of the guardian have slept.
  func sleeps() throws -> Int {
    try [number, try #require(guardian)].reduce(0) { sum, number in
      let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(number)/task")
      return try threads.reduce(sum) { sum, thread in
        let status = try String(
          contentsOfFile: "/proc/\(number)/task/\(thread)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
        return try sum + #require(line?.split(separator: "\t").last.flatMap { Int($0) })
      }
    }
  }
}
