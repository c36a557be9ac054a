import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("Daemon that does not answer", .timeLimit(.minutes(10)))
struct PatienceTests {
  /// A command that calls the daemon, and its socket.
  typealias Asking = (command: String, socket: String)

  private static let all: [Asking] = [
    ("state", "state.sock"), ("trigger shiftPressed", "control.sock"), ("devices", "control.sock"),
    ("stats", "control.sock"), ("graph shift --current", "state.sock"),
    ("wait shift=off", "state.sock"),
  ]

  @Test(
    "a command waits no longer than --timeout, however the reply is withheld",
    arguments: all, ScriptedDaemon.Manner.allCases)
  func timeout(_ asking: Asking, _ manner: ScriptedDaemon.Manner) throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/\(asking.socket)"
    let daemon = try ScriptedDaemon(in: folder.path, ScriptedDaemon.answers, withholding: manner)
    let ended = try withExtendedLifetime(daemon) {
      try keymodectl("\(asking.command) --timeout 0.3", in: folder.path)
    }
    #expect(ended.output == "")
    if asking.command.hasPrefix("wait") {
      #expect((ended.status, ended.errors) == (1, ""))
    } else {
      #expect(ended.status == 3)
      #expect(ended.errors == Self.message(path))
    }
  }

  @Test("wait ends in time, however long the daemon takes to tell its machines")
  func machines() throws {
    let folder = try TemporaryFolder()
    let answers = ScriptedDaemon.answers.merging(["ListMachines": []]) { $1 }
    let daemon = try ScriptedDaemon(
      in: folder.path, answers, staysAfterMonitor: true, clients: 2)
    let start = ContinuousClock.now
    let ended = try keymodectl("wait keyboard=editingText --timeout 0.3", in: folder.path)
    #expect((ended.status, ended.errors) == (1, ""))
    // The question for the machines alone would take five seconds.
    #expect(ContinuousClock.now - start < .seconds(4))
    withExtendedLifetime(daemon) {}
  }

  @Test("without --timeout, commands and the start of a watch give up too")
  func usual() throws {
    let watching = [
      ("watch --lines", ScriptedDaemon.Manner.letsNobodyIn), ("watch --lines", .saysNothing),
      ("watch --json", .saysHalf), ("watch --json", .trickles),
    ].map { (Asking($0.0, "state.sock"), $0.1) }
    let cases = Self.all.map { ($0, ScriptedDaemon.Manner.saysHalf) } + watching
    let folders = try cases.map { _ in try TemporaryFolder() }
    let daemons = try zip(cases, folders).map { asking, folder in
      try ScriptedDaemon(in: folder.path, ScriptedDaemon.answers, withholding: asking.1)
    }
    // All commands at once, which takes no longer than one of them.
    let ended = Mutex([Int: Ended]())
    let group = DispatchGroup()
    for (place, (asking, _)) in cases.enumerated() {
      let folder = folders[place].path
      group.enter()
      Thread {
        let result = try? keymodectl(asking.command, in: folder)
        ended.withLock { $0[place] = result }
        group.leave()
      }.start()
    }
    try #require(group.wait(timeout: .now() + 120) == .success)
    withExtendedLifetime(daemons) {}
    for (place, (asking, _)) in cases.enumerated() {
      let ended = try #require(ended.withLock { $0[place] })
      #expect((ended.status, ended.output) == (3, ""), "\(cases[place])")
      #expect(ended.errors == Self.message("\(folders[place].path)/\(asking.socket)"))
    }
  }

  private static func message(_ path: String) -> String {
    """
    keymodectl: keymoded does not answer at '\(path)';
    'systemctl status keymoded' shows the state of the service

    """
  }
}
