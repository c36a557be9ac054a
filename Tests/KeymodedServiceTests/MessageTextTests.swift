import JSON
import KeyboardModes
import KeymodeInterface
import Testing
import Varlink

/// The JSON that a message has to have, member by member.
private func tree(_ change: Change) -> JSON {
  [
    "sequence": .integer(change.sequence), "time": .integer(change.time.microseconds),
    "machine": .string(change.machine.rawValue), "from": .string(change.from),
    "to": .string(change.to), "event": .string(change.event),
  ]
}

private func tree(_ message: MonitorMessage) -> JSON {
  let (state, modes) = (message.state, message.state.modes)
  func time(_ time: Time?) -> JSON { time.map { .integer($0.microseconds) } ?? .null }
  return [
    "state": [
      "instance": .string(state.instance), "sequence": .integer(modes.sequence),
      "time": time(state.time), "shift": .string(modes.shift), "shiftSince": time(modes.shiftSince),
      "keyboard": .string(modes.keyboard), "keyboardSince": time(modes.keyboardSince),
    ],
    "changes": .array(message.changes.map(tree)),
    "missed": message.missed.map(JSON.integer) ?? .null,
  ]
}

@Suite("Change: bytes")
struct ChangeTextTests {
  @Test(
    "the bytes of a change are its JSON",
    arguments: [
      ("off", "on", "shiftPressed"), ("", "", ""), ("a\"b", "c", "d"), ("a", "b\\c", "d"),
      ("a", "b", "c\n"), ("é", "→", "\u{7f}\u{1b}"),
      ("a", "b", String(repeating: "x", count: 5000)),
    ])
  func json(_ from: String, _ to: String, _ event: String) {
    let numbers: [Int64] = [
      0, 1, 9, 10, 99, 100, 1_234_567, 999_999_999_999_999_999, 1_000_000_000_000_000_000, .max,
    ]
    for machine in Machine.allCases {
      for number in numbers + numbers.map({ -$0 }) + [.min] {
        let change = Change(
          sequence: number, time: Time(microseconds: number), machine: machine, from: from, to: to,
          event: event)
        var bytes = Array("before".utf8)
        change.write(to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == "before" + tree(change).text)
      }
    }
  }
}

@Suite("Monitor message: bytes")
struct MessageTextTests {
  @Test(
    "the bytes of a message, written in any number of parts, are its JSON",
    arguments: [
      ("0123456789abcdef", "on", "prepareToEditText"), ("", "", ""), ("a\"", "b", "c"),
      ("a", "b\\", "c"), ("a", "b", "é\n"),
    ])
  func json(_ instance: String, _ shift: String, _ keyboard: String) {
    let times: [Time?] = [
      nil, Time(microseconds: 0), Time(microseconds: .max), Time(microseconds: .min),
    ]
    for (place, time) in times.enumerated() {
      let state = StateMessage(
        instance: instance, time: time ?? Time(microseconds: 17),
        modes: Modes(
          sequence: [0, 1, .max, .min][place], shift: shift, shiftSince: time, keyboard: keyboard,
          keyboardSince: times[3 - place]))
      let change = Change(
        sequence: 7, time: Time(microseconds: 8), machine: .shift, from: "off", to: shift,
        event: "e")
      for changes in [[], [change], [change, change, change]] {
        for missed in [nil, 0, 1, Int64.max] {
          let message = MonitorMessage(state: state, changes: changes, missed: missed)
          let expected = Reply(tree(message), continues: true).message
          #expect(Reply.message(message, continues: true) == expected)
          for parts in 0...changes.count {
            var bytes: [UInt8] = []
            bytes.appendJSON { json in
              Reply.startContinuing(&json)
              MonitorMessage.start(message.state, &json)
              for change in changes[..<parts] { change.write(to: &json) }
            }
            bytes.appendJSON(isFirst: parts == 0) { json in
              for change in changes[parts...] { change.write(to: &json) }
              MonitorMessage.end(message.missed, &json)
              Reply.endContinuing(&json)
            }
            bytes.append(0)
            #expect(bytes == expected)
          }
        }
      }
    }
  }
}

@Suite("Device: JSON")
struct DeviceMessageTests {
  @Test(
    "a device is read as it was written",
    arguments: [(true, false), (false, true), (false, false)])
  func json(_ isKeyboard: Bool, _ isPointer: Bool) throws {
    let device = DeviceMessage(
      name: "a", node: "/dev/input/event5", vendor: 0x46d, product: 0xc, isKeyboard: isKeyboard,
      isPointer: isPointer)
    var bytes: [UInt8] = []
    bytes.appendJSON { json in device.write(to: &json) }
    #expect(
      String(decoding: bytes, as: UTF8.self)
        == #"{"name":"a","node":"/dev/input/event5","vendor":"046d","product":"000c","#
        + #""keyboard":\#(isKeyboard),"pointer":\#(isPointer)}"#)
    #expect(try DeviceMessage(JSON(parsing: bytes)) == device)
  }

  @Test("a device of a daemon that knows no pointers is none")
  func older() throws {
    let text = #"{"name":"a","node":"b","vendor":"0001","product":"0002","keyboard":false}"#
    let device = try #require(DeviceMessage(JSON(parsing: Array(text.utf8))))
    #expect((device.isKeyboard, device.isPointer) == (false, false))
  }
}
