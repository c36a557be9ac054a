import Testing

@Suite("Daemon with a user's keyboard table")
struct TableTests {
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
