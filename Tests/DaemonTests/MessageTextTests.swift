import KeyboardModes
import TestSupport
import Testing
import Wire

private func bytes(of message: some JSONWritable) -> [UInt8] {
  var bytes: [UInt8] = []
  message.write(to: &bytes)
  return bytes
}

private func text(of message: some JSONWritable) -> String {
  String(decoding: bytes(of: message), as: UTF8.self)
}

@Suite("Messages: JSON")
struct MessageTextTests {
  @Test("the members of messages have the order of the interface")
  func members() {
    let change = Change(
      sequence: 7, time: Time(microseconds: 8), machine: .shift, from: "off", to: "on", event: "e")
    let state = StateMessage(
      instance: "a", time: Time(microseconds: 9),
      states: States(
        sequence: 7, shift: "on", shiftSince: Time(microseconds: 8), keyboard: "k",
        keyboardSince: nil, locks: LockStates(caps: .on)), shiftTrigger: .tap)
    let ofChange = #"{"sequence":7,"time":8,"machine":"shift","from":"off","to":"on","event":"e"}"#
    let ofState =
      #"{"instance":"a","sequence":7,"time":9,"shiftTrigger":"tap","#
      + #""states":{"shift":"on","keyboard":"k","caps":"on","num":"unknown"},"since":{"shift":8}}"#
    #expect(text(of: change) == ofChange)
    #expect(text(of: state) == ofState)
    #expect(
      text(of: MonitorReply(state: state, changes: [change, change], missed: 3))
        == #"{"state":\#(ofState),"changes":[\#(ofChange),\#(ofChange)],"missed":3,"restarted":false}"#
    )
    #expect(
      text(of: MonitorReply(state: state, changes: [], missed: nil))
        == #"{"state":\#(ofState),"changes":[],"missed":0,"restarted":true}"#)
  }

  @Test("a state is read as it was written", arguments: Settings.ShiftTrigger.allCases)
  func states(_ trigger: Settings.ShiftTrigger) throws {
    for caps in LockRules.State.allCases {
      for num in LockRules.State.allCases {
        let state = StateMessage(
          instance: "a", time: Time(microseconds: 9),
          states: States(
            sequence: 7, shift: "on", shiftSince: nil, keyboard: "k",
            keyboardSince: Time(microseconds: 8), locks: LockStates(caps: caps, num: num)),
          shiftTrigger: trigger)
        #expect(try StateMessage(JSON(parsing: bytes(of: state))) == state)
      }
    }
  }

  @Test(
    "a change is read as it was written",
    arguments: [
      ("off", "on", "shiftPressed"), ("", "", ""), ("a\"b", "b\\c", "c\n"),
      ("é", "→", "\u{7f}\u{1b}"), ("a", "b", String(repeating: "x", count: 5000)),
    ])
  func change(_ from: String, _ to: String, _ event: String) throws {
    for (machine, number) in zip(
      MachineName.shipped + MachineName.shipped, [1, .max, .min, -999] as [Int64])
    {
      let change = Change(
        sequence: number, time: Time(microseconds: number), machine: machine, from: from, to: to,
        event: event)
      #expect(try Change(JSON(parsing: bytes(of: change))) == change)
    }
  }

  @Test("a message that is written in any number of parts is the same", arguments: [0, 1, 3])
  func parts(_ count: Int) throws {
    let change = Change(
      sequence: 7, time: Time(microseconds: 8), machine: .shift, from: "off", to: "on", event: "e")
    let states = States(
      sequence: 7, shift: "a\"é\n", shiftSince: nil, keyboard: "b\\",
      keyboardSince: Time(microseconds: .min))
    let message = MonitorReply(
      state: StateMessage(instance: "a", time: Time(microseconds: .max), states: states),
      changes: [Change](repeating: change, count: count), missed: 0)
    let whole = Reply.message(message, continues: true)
    #expect(try MonitorReply(Reply(parsing: whole.dropLast()).parameters) == message)
    for parts in 0...count {
      var bytes: [UInt8] = []
      bytes.appendJSON { json in
        Reply.startContinuing(&json)
        MonitorReply.start(message.state, &json)
        for change in message.changes[..<parts] { change.write(to: &json) }
      }
      bytes.appendJSON(isFirst: parts == 0) { json in
        for change in message.changes[parts...] { change.write(to: &json) }
        MonitorReply.end(message.missed, &json)
        Reply.endContinuing(&json)
      }
      #expect(bytes + [0] == whole)
    }
  }

  @Test(
    "a device is read as it was written",
    arguments: [(true, false), (false, true), (false, false)])
  func device(_ isKeyboard: Bool, _ isPointer: Bool) throws {
    let device = DeviceMessage(
      name: "a", node: "/dev/input/event5", vendor: 0x46d, product: 0xc, isKeyboard: isKeyboard,
      isPointer: isPointer)
    #expect(
      text(of: device)
        == #"{"name":"a","node":"/dev/input/event5","vendor":"046d","product":"000c","#
        + #""keyboard":\#(isKeyboard),"pointer":\#(isPointer)}"#)
    #expect(try DeviceMessage(JSON(parsing: bytes(of: device))) == device)
  }
}
