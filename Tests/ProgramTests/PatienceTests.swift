import Foundation
import KeymodeClient
import Synchronization
import TestSupport
import Testing

private let state =
  #"{"instance":"i","sequence":1,"time":1,"shift":"off","keyboard":"prepareToEditText"}"#
private let machines =
  #"{"parameters":{"machines":[{"name":"shift","initial":"off","states":["off"],"events":[],"rows":[]}]}}"#

/// A command that calls the daemon, its socket, and the reply that it should get.
struct Asking: CustomTestStringConvertible {
  let command: String
  let socket: String
  let method: String
  let reply: String

  var testDescription: String { command }
  var answers: [String: [String]] { [method: [reply]] }

  static let all = [
    Asking(
      command: "state", socket: "state.sock", method: "GetState",
      reply: #"{"parameters":{"state":\#(state)}}"#),
    Asking(
      command: "trigger shiftPressed", socket: "control.sock", method: "Trigger",
      reply: #"{"parameters":{"changed":true,"state":\#(state)}}"#),
    Asking(
      command: "devices", socket: "control.sock", method: "ListDevices",
      reply: #"{"parameters":{"devices":[]}}"#),
    Asking(
      command: "stats", socket: "control.sock", method: "GetStatistics",
      reply: #"{"parameters":{"started":0,"time":1,"changes":0,"clients":1,"missed":0,"#
        + #""devices":0,"losses":0,"reloads":0}}"#),
    Asking(
      command: "graph shift --current", socket: "state.sock", method: "ListMachines",
      reply: machines),
    watching("wait shift=off"),
  ]

  static func watching(_ command: String) -> Asking {
    Asking(command: command, socket: "state.sock", method: "Monitor", reply: monitored)
  }

  private static let monitored =
    #"{"parameters":{"state":\#(state),"changes":[],"missed":0},"continues":true}"#
}

@Suite("Daemon that does not answer", .timeLimit(.minutes(10)))
struct PatienceTests {
  @Test(
    "a command waits no longer than --timeout, however the reply is withheld",
    arguments: Asking.all, ScriptedDaemon.Manner.allCases)
  func timeout(_ asking: Asking, _ manner: ScriptedDaemon.Manner) throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/\(asking.socket)"
    let daemon = try ScriptedDaemon(in: folder.path, asking.answers, withholding: manner)
    let ended = try withExtendedLifetime(daemon) {
      try run(
        "/bin/sh", "-c",
        "'\(Place.programs)/keymodectl' \(asking.command) --timeout 0.3 --socket-dir \(folder.path)"
      )
    }
    #expect(ended.output == "")
    if asking.command.hasPrefix("wait") {
      #expect((ended.status, ended.errors) == (1, ""))
    } else {
      #expect(ended.status == 3)
      #expect(ended.errors == Self.message(path))
    }
  }

  @Test("without --timeout, commands and the start of a watch give up too")
  func usual() throws {
    let watching = [
      ("watch --lines", ScriptedDaemon.Manner.letsNobodyIn), ("watch --lines", .saysNothing),
      ("watch --json", .saysHalf), ("watch --json", .trickles),
    ].map { (Asking.watching($0.0), $0.1) }
    let cases = Asking.all.map { ($0, ScriptedDaemon.Manner.saysHalf) } + watching
    let folders = try cases.map { _ in try TemporaryFolder() }
    let daemons = try zip(cases, folders).map { asking, folder in
      try ScriptedDaemon(in: folder.path, asking.0.answers, withholding: asking.1)
    }
    // All commands at once, which takes no longer than one of them.
    let ended = Mutex([Int: Ended]())
    let group = DispatchGroup()
    for (place, (asking, _)) in cases.enumerated() {
      let arguments = asking.command.split(separator: " ").map(String.init)
      let folder = folders[place].path
      group.enter()
      Thread {
        let result = try? TestSupport.run(
          "\(Place.programs)/keymodectl", arguments + ["--socket-dir", folder])
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

  @Test("Client throws noAnswer")
  func library() async throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/state.sock"
    let daemon = try ScriptedDaemon(in: folder.path, Asking.all[0].answers, withholding: .saysHalf)
    await #expect(throws: ClientError.noAnswer(path: path)) {
      try await Client(directory: folder.path).state()
    }
    withExtendedLifetime(daemon) {}
  }

  private static func message(_ path: String) -> String {
    """
    keymodectl: keymoded does not answer at '\(path)';
    'systemctl status keymoded' shows the state of the service

    """
  }
}
