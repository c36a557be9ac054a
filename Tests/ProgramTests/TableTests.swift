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
    let there = try daemon.ask(
      "wait", "keyboard=showingStickers", "--timeout", "\(boundSeconds)")
    #expect(there.status == 0)
    let back = try daemon.ask("trigger", "clickStickerButton")
    #expect(back.output == "shift     off\nkeyboard  editingText\n")
    let client = try daemon.client()
    let machines = try client.result("\(controller).ListMachines")["machines"]?.array
    let keyboard = try #require(machines?.first { $0["name"] == "keyboard" })
    #expect(keyboard["states"]?.array?.last == "showingStickers")
    #expect(keyboard["events"]?.array?.last == "clickStickerButton")
    let rows = keyboard["rows"]?.array?.filter { $0["event"] == "clickStickerButton" } ?? []
    #expect(rows.map { $0["from"]?.string } == ["editingText", "showingStickers"])
    #expect(rows.map { $0["to"]?.string } == ["showingStickers", "editingText"])
  }

  @Test("waiting for a state or sending an event that the table lacks is refused")
  func unknown() throws {
    let daemon = try RunningDaemon(configuration: Self.talking)
    let wait = try daemon.ask("wait", "keyboard=editingText")
    #expect(wait.status == 2)
    #expect(
      wait.errors
        == "keymodectl: unknown state 'editingText' of keyboard; the states are\nidle talking\n"
        + "try 'keymodectl wait --help'\n")
    let trigger = try daemon.ask("trigger", "tapTextField")
    #expect(trigger.status == 2)
    #expect(
      trigger.errors
        == "keymodectl: unknown event 'tapTextField'; the events are\n"
        + "shiftPressed characterTyped pushToTalk\ntry 'keymodectl trigger --help'\n")
    let own = try daemon.ask("trigger", "timedOut")
    #expect(own.status == 2, "time does that")
    #expect(own.errors == trigger.errors.replacing("tapTextField", with: "timedOut"))
    let known = try daemon.ask("trigger", "pushToTalk")
    #expect(known.output == "shift     off\nkeyboard  talking\n")
  }
}
