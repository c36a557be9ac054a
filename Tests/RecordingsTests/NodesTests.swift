import Foundation
import KeyboardModes
import Keyboards
import TestSupport
import Testing

@testable import Recordings

/// What the hand did once is on several nodes of one keyboard.
@Suite("Recordings of keyboards with several nodes")
struct NodesTests {
  private func events(_ files: [String]) throws -> [String] {
    var recording = try Recording(opening: files)
    var controller = Controller()
    var changes: [Change] = []
    while let batch = try recording.next() {
      changes += batch.inputs.flatMap { controller.handle($0) }
    }
    return changes.map { "\($0.event)>\($0.to)" }
  }

  private func states(_ texts: [String]) throws -> [String] {
    let folder = try TemporaryFolder()
    return try events(texts.enumerated().map { try folder.write("\($0)", $1) })
      .compactMap { $0.split(separator: ">").last.map(String.init) }
  }

  @Test(
    "a volume key on a node of its own takes Shift back; Shift on two nodes is pressed once",
    arguments: [
      ("volume", ["shiftPressed>on", "shiftUsed>off", "shiftPressed>on", "shiftUsed>off"]),
      ("shift", ["shiftPressed>on", "characterTyped>off"]),
    ])
  func made(_ name: String, _ expected: [String]) throws {
    let folder = "\(checkout)/Tests/RecordingsTests/Recordings/nodes"
    #expect(try events(["\(folder)/\(name).libinput.yaml"]) == expected)
  }

  private static func evemu(_ id: String, at time: String) -> String {
    "# EVEMU 1.3\nN: k\n\(id)E: \(time) 0001 002a 0001\n"
  }

  @Test(
    "files are nodes of one keyboard if their ids are the same, or if neither has any",
    arguments: [
      ("I: 0003 046d c33b 0111\n", "I: 0003 046d c33b 0222\n", true),
      ("I: 0003 046d c33b 0111\n", "I: 0005 046d c33b 0111\n", false),
      ("I: 0003 046d c33b 0111\n", "I: 0003 046e c33b 0111\n", false),
      ("I: 0003 046d c33b 0111\n", "I: 0003 046d c33c 0111\n", false),
      ("I: 0003 046d c33b 0111\n", "", false), ("", "I: 0003 046d c33b 0111\n", false),
      ("", "", true),
    ])
  func files(_ first: String, _ second: String, _ isOne: Bool) throws {
    let texts = [Self.evemu(first, at: "1.000000"), Self.evemu(second, at: "1.009000")]
    #expect(try states(texts) == (isOne ? ["on"] : ["on", "capsLock"]))
  }

  @Test("every format has nodes, by its description or without one")
  func formats() throws {
    let evtest = """
      Input driver version is 1.0.1
      Input device ID: bus 0x3 vendor 0x46d product 0xc33b version 0x111
      Event: time 1.009000, type 1 (EV_KEY), code 42 (KEY_LEFTSHIFT), value 1

      """
    let other = evtest.replacing("0x46d", with: "0x46e")
    let evemu = Self.evemu("I: 0003 046d c33b 0111\n", at: "1.000000")
    #expect(try states([evemu, evtest]) == ["on"])
    #expect(try states([evemu, other]) == ["on", "capsLock"])
    let getevent = """
      [    1.000000] /dev/input/event2: 0001 002a 00000001
      [    1.009000] /dev/input/event3: 0001 002a 00000001

      """
    #expect(try states([getevent]) == ["on"])
    let late = getevent.replacing("1.009", with: "1.020")
    #expect(try states([late]) == ["on", "capsLock"])
  }

  /// A device's section in a recording of libinput, which presses Shift.
  private func section(_ id: String, _ note: String, at microseconds: Int) -> String {
    """
    - node: /dev/input/event0
      evdev:
        name: "k"
    \(id)  events:
    \(note)  - evdev:
        - [1, \(microseconds), 1, 42, 1]
        - [1, \(microseconds), 0, 0, 0]

    """
  }

  @Test(
    "in libinput's format the ids tell it, and more exactly the note of keymodectl",
    arguments: [
      ("    id: [3, 1, 2, 3]\n", "    id: [3, 1, 2, 4]\n", "", "", true),
      ("    id: [3, 1, 2, 3]\n", "    id: [3, 1, 3, 3]\n", "", "", false),
      ("    id: [3, 1, 2, 3]\n", "", "", "", false), ("", "", "", "", true),
      ("    id: [3, 1, 2, 3]\n", "    id: [3, 1, 2, 3]\n", "0", "1", false),
      ("    id: [3, 1, 2, 3]\n", "    id: [5, 6, 7, 8]\n", "4", "4", true),
      ("    id: [3, 1, 2, 3]\n", "    id: [3, 1, 2, 3]\n", "0", "", false),
    ])
  func libinput(
    _ first: String, _ second: String, _ note: String, _ other: String, _ isOne: Bool
  ) throws {
    let notes = [note, other].map { $0.isEmpty ? "" : "  - keymoded: {parent: [\($0)]}\n" }
    let text =
      "version: 1\nndevices: 2\ndevices:\n" + section(first, notes[0], at: 0)
      + section(second, notes[1], at: 9000)
    #expect(try states([text]) == (isOne ? ["on"] : ["on", "capsLock"]))
    // A device without events, however it is described, changes nothing for the next.
    let silent =
      "- node: /dev/input/event9\n  evdev:\n    name: \"s\"\n    id: [6, 27501, 29544, 1]\n"
    let more = text.replacing(
      "- node: /dev/input/event0", with: silent + "- node: /dev/input/event0")
    #expect(try states([more.replacing("ndevices: 2", with: "ndevices: 4")]) == states([text]))
    // The numbers of notes are those of a file.
    let alone =
      [section(first, "  - keymoded: {parent: [0]}\n", at: 0)]
      + [section(second, "  - keymoded: {parent: [0]}\n", at: 9000)]
    let files = alone.map { "version: 1\nndevices: 1\ndevices:\n" + $0 }
    #expect(try states(files) == ["on", "capsLock"])
  }

  @Test(
    "a parent that is no number is an error",
    arguments: ["[x]", "[65536]", "[-1]", "[]", "[1, 2]", "1", ""])
  func badNote(_ number: String) throws {
    let text = "  events:\n  - keymoded: {parent: \(number)}\n"
    #expect(
      try Outcome(Array(text.utf8)).error
        == "FILE:2: the number of the parent is not one up to 65535")
  }

  @Test("a recording tells which devices are nodes of one keyboard; a redacted one has no twins")
  func recorded() throws {
    let (first, second) = (DeviceID(order: 0, parent: 0), DeviceID(order: 1, parent: 0))
    let shift = try #require(KeyCode(name: "KEY_LEFTSHIFT"))
    let inputs = [(first, 0), (second, 9000)].map { device, time in
      Controller.Input.key(
        device, KeyEvent(time: Time(microseconds: Int64(time)), key: shift, action: .press))
    }
    let folder = try TemporaryFolder()
    for (isPlain, count) in [(true, 2), (false, 1)] {
      var filter = RecordingFilter(settings: Settings(), showsKeyCodes: isPlain)
      let devices = [1, 2].map { number in
        DeviceDescription(
          name: "\(number)", node: "", bus: 3, vendor: UInt16(number), product: 1, version: 1)
      }
      let path = "\(folder.path)/\(isPlain)"
      let file = try RecordingFile(path, devices, parents: isPlain ? [0, 0] : [0, 1], remarks: [])
      file.add(filter.handle(Batch(inputs)) { _, _ in [] })
      try file.flush()
      try file.finish()
      let text = try String(contentsOfFile: path, encoding: .utf8)
      #expect(text.components(separatedBy: "KEY_LEFTSHIFT").count == count + 1)
      #expect(text.contains("  events:\n  - keymoded: {parent: [\(isPlain ? 0 : 1)]}\n"))
      #expect(try events([path]) == ["shiftPressed>on"])
    }
  }
}
