import Foundation
import TestSupport
import Testing

/// Sockets that appear before their clients may use them, as those of systemd's units do.
@Suite("A socket that its clients may use only later", .timeLimit(.minutes(10)))
struct LateSocketTests {
  private let daemon: RunningDaemon
  private let outer: TemporaryFolder
  private var folder: String { "\(outer.path)/sockets" }

  init() throws {
    daemon = try RunningDaemon.following()
    outer = try TemporaryFolder()
  }

  /// A program that waits in ``folder`` for a daemon.
  private func waiting() throws -> RunningProgram {
    let command = ["\(Place.programs)/keymodectl", "wait", "shift=off", "--socket-dir", folder]
    let words = withoutRightsOfRoot + command
    let waiting = try RunningProgram(words[0], Array(words[1...]))
    try wait(for: "a message") { waiting.errors.hasSuffix("waiting for it\n") }
    return waiting
  }

  /// Changes the sockets where the program waits for them, if they are there: the kernel tells who
  /// watches a folder of a change by that folder's name alone, not by another link.
  private func setMode(_ mode: mode_t) throws {
    let isShown = FileManager.default.fileExists(atPath: folder)
    for name in ["state", "control"] {
      try #require(chmod("\(isShown ? folder : daemon.folder.path)/\(name).sock", mode) == 0)
    }
  }

  /// Puts the daemon's sockets where the program waits for them, all at once.
  private func show() throws {
    let hidden = "\(outer.path)/hidden"
    try FileManager.default.createDirectory(atPath: hidden, withIntermediateDirectories: false)
    for name in ["state", "control"] {
      try #require(link("\(daemon.folder.path)/\(name).sock", "\(hidden)/\(name).sock") == 0)
    }
    try #require(rename(hidden, folder) == 0)
  }

  /// How often the program has slept: at least once after each attempt to connect.
  private func sleeps(of waiting: RunningProgram) -> Int {
    let status = try? String(contentsOfFile: "/proc/\(waiting.number)/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
    return line.flatMap { $0.split(separator: "\t").last }.flatMap { Int($0) } ?? 0
  }

  /// A program that has said that it may not use the daemon in ``folder``.
  private func refusedProgram() throws -> RunningProgram {
    let waiting = try waiting()
    try setMode(0)
    try show()
    try wait(for: "the reason") {
      waiting.errors.hasSuffix("no permission to use '\(folder)/state.sock'; waiting for it\n")
    }
    return waiting
  }

  @Test("a client that has waited for its first daemon uses it once it may")
  func granted() throws {
    let waiting = try waiting()
    try setMode(0)
    try show()
    let before = sleeps(of: waiting)
    try wait(for: "an attempt to connect") { sleeps(of: waiting) > before || !waiting.isRunning }
    try setMode(0o600)
    #expect(waiting.end() == 0, "\(waiting.errors)")
  }

  @Test("a client that may not use its daemon says so, sleeps, and uses it once it may")
  func refused() throws {
    let waiting = try refusedProgram()
    // Another file of the folder may wake it, and time does not. A client may read by the control
    // socket, so that one gets no permission to write.
    let before = sleeps(of: waiting)
    try #require(chmod("\(folder)/control.sock", 0o100) == 0)
    try wait(for: "an attempt to connect") { sleeps(of: waiting) > before }
    try setMode(0o600)
    #expect(waiting.end() == 0)
    #expect(waiting.errors.components(separatedBy: "no permission").count == 2)
  }

  @Test("a client waits for the permission also when its folder is replaced")
  func replaced() throws {
    let waiting = try refusedProgram()
    try #require(rename(folder, "\(outer.path)/old") == 0)
    try show()
    try setMode(0o600)
    #expect(waiting.end() == 0)
  }
}
