import KeyboardModes
import KeymodeClient
import System
import Terminal
import TestSupport
import Testing
import Wire

@testable import Session

func states(
  _ shift: String, _ keyboard: String, since: Int64? = nil, at time: Int64 = 0,
  _ locks: LockStates = LockStates()
) -> StateMessage {
  let since = since.map(Time.init(microseconds:))
  return StateMessage(
    instance: "i", time: Time(microseconds: time),
    states: States(
      sequence: 0, shift: shift, shiftSince: since, keyboard: keyboard, keyboardSince: since,
      locks: locks))
}

@Suite("Watching: status bar")
struct StatusTests {
  @Test(
    "a format has placeholders for states, and doubled braces for braces",
    arguments: [
      ("{shift}|{keyboard}", "on|idle"), ("{{{shift}}}", "{on}"), ("", ""), ("plain", "plain"),
      ("{{shift}}", "{shift}"), ("\u{1b}[1m{shift}", "\u{1b}[1mon"),
    ])
  func format(_ format: String, _ text: String) throws {
    let format = try StatusFormat(format)
    #expect(format.text(states("on", "idle").states).description == text)
  }

  @Test("a state cannot control the terminal")
  func harmless() throws {
    #expect(try StatusFormat("{shift}").text(states("\u{1b}[m", "idle").states) == "\u{fffd}[m")
  }

  @Test(
    "a format with a single brace or an unknown placeholder is refused",
    arguments: [("{shift", "{{"), ("x}", "}}"), ("{", "{{"), ("{}", "{{")])
  func badFormat(_ format: String, _ brace: String) {
    let names = brace == "{{" ? "{shift}, {keyboard}, {caps}, {num}, or " : ""
    #expect(
      throws: UsageError(
        "invalid '\(brace.prefix(1))' in the format; use \(names)\(brace) for a brace")
    ) { _ = try StatusFormat(format) }
  }

  @Test(
    "a placeholder that no machine can have gets the most similar one, or all",
    arguments: [
      ("{Shift}", "did you mean {shift}?"),
      ("{capsLock}", "use {shift}, {keyboard}, {caps}, {num}, or {{ for a brace"),
    ])
  func impossiblePlaceholder(_ format: String, _ hint: TerminalText) {
    #expect(throws: UsageError("unknown \(format) in the format; \(hint)")) {
      _ = try StatusFormat(format)
    }
  }

  @Test("a placeholder of no known machine is refused if it is like one; others may come")
  func unknownPlaceholder() throws {
    let known = MachineName.shipped.map(\.rawValue) + ["talk"]
    for (format, meant) in [("{shfit}", "shift"), ("{tlak}", "talk")] {
      let format = try StatusFormat(format)
      let name = format.machines.first?.rawValue ?? ""
      #expect(throws: UsageError("unknown {\(name)} in the format; did you mean {\(meant)}?")) {
        try format.checkMachines(among: known)
      }
    }
    try StatusFormat("{shift} {talk} {layers}").checkMachines(among: known)
  }

  @Test("a machine of one's own has a placeholder, a line of the tooltip and a class with its name")
  func own() throws {
    let talk = MachineName(rawValue: "talk")
    func message(_ own: [States.Entry]) -> StateMessage {
      StateMessage(
        instance: "i", time: Time(microseconds: 0),
        states: States(
          sequence: 0, shift: "off", shiftSince: nil, keyboard: "idle", keyboardSince: nil, own: own
        ))
    }
    var line = StatusLine(try StatusFormat("{talk}"), isForWaybar: true)
    #expect(
      line.handle(.states(message([States.Entry(talk, "open")])))?.description
        == #"{"text":"open","alt":"open","tooltip":"shift: off\u000akeyboard: idle\u000atalk: open","#
        + #""class":["off","idle","talk-open"]}"#)
    #expect(
      line.handle(.states(message([])))?.description
        == #"{"text":"","alt":"","tooltip":"shift: off\u000akeyboard: idle","class":["off","idle"]}"#
    )
  }

  @Test("for Waybar, the tooltip tells why there are no states, if more than a daemon is missing")
  func reason() throws {
    var line = StatusLine(try StatusFormat("{shift}"), isForWaybar: true)
    #expect(
      line.handle(.disconnected(.permissionDenied(path: "p", group: "g")))?.description
        == #"{"text":"disconnected","alt":"disconnected","#
        + #""tooltip":"no permission to use 'p':\u000aonly members of the group 'g' may use it","#
        + #""class":["disconnected"]}"#)
    #expect(line.handle(.disconnected(.noDaemon(path: "p"))) != nil, "its tooltip changes")
    var plain = StatusLine(try StatusFormat("{shift}"), isForWaybar: false)
    #expect(plain.handle(.disconnected(.permissionDenied(path: "p", group: nil))) == "disconnected")
  }

  @Test("a line comes when the text changes, and is empty while the states are unknown")
  func line() throws {
    var line = StatusLine(try StatusFormat("{shift}"), isForWaybar: false)
    #expect(line.handle(.change(change("off", "on"))) == nil, "the states are unknown")
    #expect(line.handle(.states(states("off", "idle"))) == "off")
    #expect(line.handle(.change(change("idle", "busy", of: .keyboard))) == nil, "not in the format")
    #expect(line.handle(.change(change("off", "on"))) == "on")
    #expect(line.handle(.missed(3)) == nil)
    #expect(line.handle(.states(states("on", "idle"))) == nil)
    #expect(line.handle(.disconnected(.connectionLost)) == "")
    #expect(line.handle(.disconnected(.connectionLost)) == nil)
    #expect(line.handle(.change(change("on", "off"))) == nil, "the keyboard's state is unknown")
    #expect(line.handle(.states(states("off", "idle"))) == "off")
  }

  @Test("for Waybar, a line is JSON with a class for each state")
  func waybar() throws {
    var line = StatusLine(try StatusFormat("{shift}"), isForWaybar: true)
    #expect(
      line.handle(.disconnected(.connectionLost))?.description
        == #"{"text":"","alt":"disconnected","tooltip":"no keymoded","class":["disconnected"]}"#)
    #expect(
      line.handle(.states(states("on", "idle")))?.description
        == #"{"text":"on","alt":"on","tooltip":"shift: on\u000akeyboard: idle","#
        + #""class":["on","idle"]}"#)
    #expect(line.handle(.change(change("idle", "busy", of: .keyboard))) != nil, "its class changes")
  }

  @Test("for Waybar, a lock that is on is a class, and one that is known is in the tooltip")
  func waybarLocks() throws {
    var line = StatusLine(try StatusFormat("{shift}"), isForWaybar: true)
    func tail(_ text: TerminalText?) -> String? {
      text?.description.split(separator: #""tooltip":"#).last.map(String.init)
    }
    #expect(
      tail(line.handle(.states(states("on", "idle", LockStates(caps: .on, num: .off)))))
        == #""shift: on\u000akeyboard: idle\u000acaps: on\u000anum: off","#
        + #""class":["on","idle","caps-on"]}"#)
    #expect(
      tail(line.handle(.change(change("on", "unknown", of: .caps))))
        == #""shift: on\u000akeyboard: idle\u000anum: off","class":["on","idle"]}"#)
    var caps = StatusLine(try StatusFormat("{caps}"), of: [.caps], isForWaybar: true)
    #expect(
      caps.handle(.states(states("on", "idle", LockStates(num: .on))))?.description
        == #"{"text":"unknown","alt":"unknown","tooltip":"","class":[]}"#)
    #expect(
      caps.handle(.change(change("unknown", "on", of: .caps)))?.description
        == #"{"text":"on","alt":"on","tooltip":"caps: on","class":["caps-on"]}"#)
  }

  @Test(
    "a line follows the machines that it shows",
    arguments: [
      ("{caps}", nil, false, [.caps]), ("{shift} {num}", nil, false, [.shift, .num]),
      ("", .caps, false, [.caps]),
      ("x", nil, false, [.shift, .keyboard]), ("{caps}", .caps, true, [.caps]),
      ("", .num, true, [.num]), ("{num}", .caps, true, [.caps, .num]),
      ("{shift}", .caps, true, nil), ("{caps}", nil, true, nil), ("{shift}", .shift, true, nil),
    ] as [(String, MachineName?, Bool, Set<MachineName>?)])
  func followed(
    _ format: String, _ machine: MachineName?, _ isForWaybar: Bool, _ all: Set<MachineName>?
  )
    throws
  {
    let format = try StatusFormat(format)
    let line = StatusLine(
      format, of: machine.map { [$0] } ?? StatusLine.defaultMachines, isForWaybar: isForWaybar)
    #expect(line.followed == all)
  }
}
