import KeyboardModes
import Terminal
import Testing
import Wire

@testable import Session

@Suite("Watching: conditions on states")
struct StateConditionsTests {
  @Test(
    "all machines that are named must be in one of their states",
    arguments: [
      (["shift=on"], "on", "idle", true), (["shift=on"], "off", "idle", false),
      (["shift=on,capsLock"], "capsLock", "idle", true),
      (["shift=on,capsLock"], "off", "idle", false),
      (["shift=on", "keyboard=idle,busy"], "on", "busy", true),
      (["shift=on", "keyboard=idle,busy"], "off", "busy", false),
      (["keyboard=idle,busy", "shift=on"], "on", "other", false),
    ])
  func hold(_ operands: [String], _ shift: String, _ keyboard: String, _ holds: Bool) throws {
    let conditions = try #require(try StateConditions(operands))
    #expect(conditions.hold { $0 == .shift ? shift : keyboard } == holds)
    #expect(!conditions.hold { _ in nil }, "unknown states hold nothing")
    #expect(conditions.firstMachine.rawValue == operands[0].prefix { $0 != "=" })
  }

  @Test("conditions can name locks")
  func locks() throws {
    let conditions = try #require(try StateConditions(["caps=on,off", "num=unknown"]))
    #expect(conditions.machines == [.caps, .num])
    #expect(conditions.hold { $0 == .caps ? "off" : "unknown" })
    #expect(!conditions.hold { _ in "unknown" })
  }

  @Test("no operands make no conditions")
  func none() throws { #expect(try StateConditions([]) == nil) }

  @Test(
    "invalid operands are refused",
    arguments: [
      (
        ["showingPanel"], "'showingPanel' is not MACHINE=STATE; did you mean keyboard=showingPanel?"
      ),
      (["capslock"], "'capslock' is not MACHINE=STATE; did you mean shift=capsLock?"),
      (["off,on"], "'off,on' is not MACHINE=STATE"),
      (["shift"], "'shift' is not MACHINE=STATE"), (["shift="], "'shift=' is not MACHINE=STATE"),
      (["shift=on,"], "'shift=on,' is not MACHINE=STATE"), (["=on"], "'=on' is not MACHINE=STATE"),
      (["talk:open"], "'talk:open' is not MACHINE=STATE; did you mean talk=open?"),
      (["talk==open"], "'talk==open' is not MACHINE=STATE; did you mean talk=open?"),
      (
        ["talk!=silent"],
        "'talk!=silent' is not MACHINE=STATE; name the states that count: talk=STATE,STATE"
      ), ([""], "'' is not MACHINE=STATE"),
      (["capsLock=on"], "unknown machine 'capsLock'; expected shift, keyboard, caps or num"),
      (["caps=lit"], "unknown state 'lit' of caps; expected unknown, off or on"),
      (["num=on,1"], "unknown state '1' of num; expected unknown, off or on"),
      (["shift=x"], "unknown state 'x' of shift; expected off, on or capsLock"),
      (["shift=on,x"], "unknown state 'x' of shift; expected off, on or capsLock"),
      (
        ["shift=on", "shift=off"],
        "shift is named twice; shift=STATE,STATE means one of these states"
      ),
    ] as [([String], TerminalText)])
  func usage(_ operands: [String], _ message: TerminalText) {
    #expect(throws: UsageError(message)) { _ = try StateConditions(operands) }
  }

  @Test("a state that the daemon does not have is refused")
  func unknown() throws {
    let talk = CompiledTable(
      try CompiledTable.NamedTable(
        states: ["silent", "open"], initial: "silent", rows: [("silent", "press", "open")]))
    let machines = MachineMessage.all(
      of: Settings(machines: [Settings.TableMachine(MachineName(rawValue: "talk"), talk)]))
    func missing(_ operands: String...) throws -> [String]? {
      try StateConditions(operands)?.check(machines).map(\.rawValue)
    }
    #expect(try missing("keyboard=editingText,showingPanel", "talk=open") == [])
    #expect(try missing("layers=upper", "shift=on") == ["layers"])
    let states = "prepareToEditText, prepareToRecord, editingText or showingPanel"
    #expect(throws: UsageError("unknown state 'x' of keyboard; expected \(states)")) {
      _ = try missing("keyboard=editingText,x")
    }
    #expect(throws: UsageError("unknown state 'opne' of talk; did you mean 'open'?")) {
      _ = try missing("talk=opne")
    }
    #expect(throws: UsageError("unknown machine 'tlak'; did you mean 'talk'?")) {
      _ = try missing("tlak=open")
    }
  }
}
