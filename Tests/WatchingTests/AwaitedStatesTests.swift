import KeyboardModes
import KeymodeInterface
import SystemCalls
import Testing
import Watching

@Suite("Watching: awaited states")
struct AwaitedStatesTests {
  private func message(_ changes: [Change], _ shift: String, _ keyboard: String) -> MonitorMessage {
    MonitorMessage(state: states(shift, keyboard), changes: changes, missed: 0)
  }

  @Test("the states at the end of a message can be those awaited")
  func final() throws {
    var awaited = try AwaitedStates(["shift=on", "keyboard=idle"])
    #expect(awaited.keyboard == "idle")
    let before = awaited.take(message([], "on", "busy"))
    let after = awaited.take(message([], "on", "idle"))
    #expect((before, after) == (false, true))
  }

  @Test("states that held only between two changes of a message count")
  func passing() throws {
    var awaited = try AwaitedStates(["shift=on", "keyboard=idle"])
    let first = awaited.take(message([], "off", "idle"))
    let changes = [change("off", "on"), change("idle", "busy", of: .keyboard)]
    let second = awaited.take(message(changes, "on", "busy"))
    #expect((first, second) == (false, true))
  }

  @Test("states that never held at the same time do not count")
  func apart() throws {
    var awaited = try AwaitedStates(["shift=on", "keyboard=idle"])
    let first = awaited.take(message([], "off", "idle"))
    let changes = [change("idle", "busy", of: .keyboard), change("off", "on")]
    let second = awaited.take(message(changes, "on", "busy"))
    #expect((first, second) == (false, false))
  }

  @Test(
    "invalid operands are refused",
    arguments: [
      (["shift"], "'shift' is not MACHINE=STATE"), (["shift="], "'shift=' is not MACHINE=STATE"),
      (["caps=on"], "unknown machine 'caps'; expected shift or keyboard"),
      (["shift=x"], "unknown state 'x' of shift; the states are\noff on capsLock"),
      (["shift=on", "shift=off"], "shift can be in one state only"),
    ] as [([String], TerminalText)])
  func usage(_ operands: [String], _ message: TerminalText) {
    #expect(throws: UsageError(message)) { _ = try AwaitedStates(operands) }
  }

  @Test("a state that the daemon does not have is refused")
  func unknown() throws {
    try AwaitedStates.check("idle", of: .keyboard, among: ["idle"])
    #expect(throws: UsageError("unknown state 'x' of keyboard; the states are\nidle busy")) {
      try AwaitedStates.check("x", of: .keyboard, among: ["idle", "busy"])
    }
  }
}
