import Foundation
import TestSupport
import Testing
import Wire

@Suite("Daemon with a user's keyboard table")
struct TableTests {
  private let controller = "org.keymoded.Controller"

  private static let stickers = """
    keyboard:
    \(stickerTable)
      bindings: { clickStickerButton: [KEY_F5] }

    """

  private static let talking = """
    shift: { timeout: 3s }
    keyboard:
      table:
        replaces: true
        initial: idle
        states: [idle, talking]
        events: [pushToTalk]
        rows:
          idle: { pushToTalk: talking }
          talking: { pushToTalk: idle }

    """

  private func ask(_ arguments: [String], _ daemon: RunningDaemon) throws -> Ended {
    try TestSupport.run(
      "\(Place.programs)/keymodectl", arguments + ["--socket-dir", daemon.folder.path])
  }

  @Test("the daemon takes the table's keys and events, and lists its states and rows")
  func serves() throws {
    let daemon = try RunningDaemon(
      recording: """
        # EVEMU 1.3
        E: 0.000001 0001 006e 0001
        E: 0.100001 0001 006e 0000
        E: 0.200001 0001 003f 0001
        E: 0.300001 0001 003f 0000

        """, configuration: Self.stickers)
    let wait = ["wait", "keyboard=showingStickers", "--timeout", "\(boundSeconds)"]
    let there = try ask(wait, daemon)
    #expect(there.status == 0)
    let back = try ask(["trigger", "clickStickerButton"], daemon)
    #expect(back.output == "shift     off\nkeyboard  editingText\n")
    let client = try daemon.client(\.stateSocket)
    let machines = try client.result("\(controller).ListMachines")["machines"]?.array
    let keyboard = try #require(machines?.last)
    #expect(keyboard["states"]?.array?.last == "showingStickers")
    #expect(keyboard["events"]?.array?.last == "clickStickerButton")
    let rows = keyboard["rows"]?.array?.filter { $0["event"] == "clickStickerButton" } ?? []
    #expect(rows.map { $0["from"]?.string } == ["editingText", "showingStickers"])
    #expect(rows.map { $0["to"]?.string } == ["showingStickers", "editingText"])
  }

  @Test("waiting for a state or sending an event that the table lacks is refused")
  func unknown() throws {
    let daemon = try RunningDaemon(configuration: Self.talking)
    let wait = try ask(["wait", "keyboard=editingText"], daemon)
    #expect(wait.status == 2)
    #expect(
      wait.errors
        == "keymodectl: unknown state 'editingText' of keyboard; the states are\nidle talking\n"
        + "try 'keymodectl wait --help'\n")
    let trigger = try ask(["trigger", "tapTextField"], daemon)
    #expect(trigger.status == 2)
    #expect(
      trigger.errors
        == "keymodectl: unknown event 'tapTextField'; the events are\n"
        + "shiftPressed characterTyped pushToTalk\ntry 'keymodectl trigger --help'\n")
    let own = try ask(["trigger", "timedOut"], daemon)
    #expect(own.status == 2, "time does that")
    #expect(own.errors == trigger.errors.replacing("tapTextField", with: "timedOut"))
    let known = try ask(["trigger", "pushToTalk"], daemon)
    #expect(known.output == "shift     off\nkeyboard  talking\n")
  }

  @Test("a reload that removes the present state changes to the initial state")
  func reload() throws {
    let daemon = try RunningDaemon()
    let subscriber = try daemon.subscriber()
    let control = try daemon.client(\.controlSocket)
    _ = try control.result("\(controller).Trigger", ["event": "tapTextField"])
    #expect(try subscriber.reply()["parameters"]?["changes"]?.array?.count == 1)
    _ = try daemon.folder.write("keymoded.yaml", Self.talking)
    kill(daemon.process.processIdentifier, SIGHUP)
    let change = try #require(try subscriber.reply()["parameters"]?["changes"]?.array?.first)
    #expect(change["from"] == "editingText")
    #expect(change["to"] == "idle")
    #expect(change["event"] == "configured")
    #expect(change["sequence"] == 2)
    let state = try control.result("\(controller).GetState")["state"]
    #expect(state?["keyboard"] == "idle")
    #expect(daemon.stop() == 0)
  }

  @Test("the table is drawn, and drives a replay")
  func drawnAndReplayed() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("k.yaml", Self.stickers)
    let graph = try run("keymodectl", "graph", "keyboard", "--format", "mermaid", "--config", file)
    #expect(graph.output.contains("editingText --> showingStickers: clickStickerButton\n"))
    let recording = try folder.write(
      "r.evemu", "# EVEMU 1.3\nE: 0.000001 0001 006e 0001\nE: 0.200001 0001 003f 0001\n")
    let picture = "\(folder.path)/p.svg"
    let replay = try run(
      "keymodectl", "replay", "--config", file, "--timeline", picture, recording)
    #expect(
      replay.output.hasSuffix(
        """
             0.200001  keyboard  editingText → showingStickers        clickStickerButton
             0.200001  shift is off, keyboard is showingStickers

        """))
    #expect(try String(contentsOfFile: picture, encoding: .utf8).contains(">showingStickers<"))
  }
}
