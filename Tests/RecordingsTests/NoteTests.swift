import KeyboardModes
import Recordings
import TestSupport
import Testing

private let device = DeviceID(order: 0)

private func difference(_ number: Int, _ isDown: Bool) throws -> KeyDifference {
  KeyDifference(key: try #require(KeyCode(number)), isDown: isDown)
}

@Suite("Notes of keymodectl in recordings")
struct NoteTests {
  @Test("notes give the keys held at opening, what a loss hid, and when a device was removed")
  func libinput() throws {
    let outcome = try read(
      """
      version: 1
      ndevices: 2
      devices:
      - node: x
        events:
        - keymoded: {held: [29, 56]}
        - keymoded: {later: [1], versions: too}
        - keymoded: [of, any, kind]
        - evdev:
          - [1, 0, 1, 30, 1]
          - [1, 0, 0, 0, 0]
        - keymoded: lost
        - evdev:
          - [2, 0, 1, 29, 0]
          - [2, 0, 1, 42, 1]
          - [2, 0, 0, 0, 0]
        - keymoded: {gone: [4, 5]}
      - node: y
        events:
        - keymoded: {held: []}
        - evdev:
          - [3, 0, 1, 30, 1]
        - evdev:
          - [5, 0, 1, 30, 0]

      """)
    #expect(outcome.error == nil)
    let other = DeviceID(order: 1)
    let held = try [#require(KeyCode(29)), #require(KeyCode(56))]
    #expect(
      try outcome.inputs == [
        .opened(device, held: held),
        .opened(other, held: []), .key(device, event(1_000_000, 30, .press)),
        .synchronized(
          device, [difference(29, false), difference(42, true)], at: Time(microseconds: 2_000_000)),
        .key(other, event(3_000_000, 30, .press)),
        .gone(device, at: Time(microseconds: 4_000_005)),
        .key(other, event(5_000_000, 30, .release)),
      ])
  }

  @Test(
    "wrong notes are reported",
    arguments: [
      ("{held: [768]}", "a key code of the held keys is above 767"),
      ("{held: [-1]}", "a key code of the held keys is above 767"),
      ("{held: all}", "the held keys are not a list of numbers"),
      ("{held: [1", "the held keys are not a list of numbers"),
      (
        "{held: [" + String(repeating: "1, ", count: 769) + "1]}",
        "the held keys are not a list of numbers"
      ),
      ("{gone: [1]}", "the time is not two numbers"),
      ("{gone: [1, 1000000]}", "event time 1, 1000000 is not seconds and microseconds"),
    ])
  func badNotes(_ note: String, _ message: String) throws {
    let outcome = try read("  events:\n  - keymoded: \(note)\n")
    #expect(outcome.error == "FILE:2: \(message)")
  }

  @Test("a report after a loss has to be complete")
  func cutOff() throws {
    let text = "  events:\n  - keymoded: lost\n  - evdev:\n    - [2, 0, 1, 29, 1]\n"
    let outcome = try read(text)
    #expect(outcome.error == "FILE:4: the recording is cut off here")
    #expect(outcome.inputs == [])
    #expect(try read(text, isLenient: true).skipped.count == 1)
  }

  @Test("a report after a loss with more differences than keys is refused")
  func tooMany() throws {
    let lines = String(repeating: "    - [2, 0, 1, 29, 1]\n", count: 769)
    let outcome = try read("  events:\n  - keymoded: lost\n  - evdev:\n" + lines)
    #expect(outcome.error == "FILE:772: the report after a loss has more keys than exist")
  }
}

@Suite("Several recordings")
struct SeveralRecordingsTests {
  @Test("files are merged by time, and inputs of the same time in the order of the files")
  func merged() throws {
    let outcome = try Outcome([
      "# EVEMU 1.3\nE: 1.000000 0001 001e 0001\nE: 3.000000 0001 001e 0000\n",
      "[1.000000] /dev/input/event3: EV_KEY KEY_B DOWN\n"
        + "[2.000000] /dev/input/event4: EV_KEY KEY_B DOWN\n",
      "  events:\n  - evdev:\n    - [2, 0, 1, 30, 1]\n",
    ])
    #expect(outcome.error == nil)
    #expect(
      try outcome.events == [
        event(1_000_000, 30, .press), event(1_000_000, 48, .press), event(2_000_000, 48, .press),
        event(2_000_000, 30, .press), event(3_000_000, 30, .release),
      ])
    #expect(Set(outcome.devices).count == 4, "each device has a number of its own")
    #expect(outcome.devices.first == outcome.devices.last)
    // Also where the second file has come first by its time.
    let later = try Outcome([
      "# EVEMU 1.3\nE: 2.000000 0001 001e 0001\n",
      "# EVEMU 1.3\nE: 1.000000 0001 0030 0001\nE: 2.000000 0001 0030 0000\n",
    ])
    #expect(
      try later.events == [
        event(1_000_000, 48, .press), event(2_000_000, 30, .press), event(2_000_000, 48, .release),
      ])
  }

  @Test("all inputs before a fault in one file are returned")
  func fault() throws {
    let outcome = try Outcome([
      "# EVEMU 1.3\nE: 2.000000 0001 001e 0001\nE: 4.000000 0001 001e 0000\n",
      "# EVEMU 1.3\nE: 1.000000 0001 001e 0001\nE: 3.000000 0001 001e 0000\nE: x\n",
    ])
    #expect(outcome.error == #"FILE1:4: event time "x" is not SECONDS.MICROSECONDS"#)
    #expect(outcome.events.map { $0.time.microseconds / 1_000_000 } == [1, 2, 3, 4])
  }

  @Test("a release that a grab hid comes before everything else of its time, whatever its device")
  func missedRelease() throws {
    let press = "  - evdev:\n    - [5, 0, 1, 30, 1]\n    - [5, 0, 0, 0, 0]\n"
    let release = "  - evdev:\n    - [5, 0, 1, 29, 0]\n    - [5, 0, 0, 0, 0]\n"
    func inputs(_ first: String, _ second: String) throws -> [Controller.Input] {
      try read("- node: x\n  events:\n\(first)- node: y\n  events:\n\(second)").inputs
    }
    let other = DeviceID(order: 1)
    let pressed = try event(5_000_000, 30, .press)
    let released = try event(5_000_000, 29, .release)
    func missed(_ device: DeviceID) -> Controller.Input {
      .missedRelease(device, released.key, at: released.time)
    }
    let note = "  - keymoded: missed\n"
    #expect(try inputs(press, note + release) == [missed(other), .key(device, pressed)])
    #expect(try inputs(note + release, press) == [missed(device), .key(other, pressed)])
    // The note is of one report.
    let after = try inputs(press, note + release + release)
    #expect(after == [missed(other), .key(device, pressed), .key(other, released)])
    // Other releases, and a loss, have the order of the devices.
    #expect(try inputs(press, release) == [.key(device, pressed), .key(other, released)])
    let found = try inputs(press, "  - keymoded: lost\n" + release)
    #expect(found.first == .key(device, pressed))
  }
}

@Suite("Lenient reading")
struct LenientTests {
  @Test(
    "faults are skipped and counted",
    arguments: [
      "# EVEMU 1.3\nE: 1.000000 0001 001e 0001\nE: 1.0 0001\nhello\nE: 2.000000 0001 001e 0000\nE: 3.0",
      "[1.000000] 0001 001e 00000001\n[2.0] 0001\n/dev/input/event0: 0001 001e 00000001\n[x\n[2.000000] 0001 001e 00000000\n",
      "Event: time 1.000000, type 1 (K), code 30 (A), value 1\nEvent: time x\n"
        + "Event: time 1.5, type 1 (K), code 30 (A), value 1\nEvent: time 1.500000, x\n"
        + "Event: time 2.000000, type 1 (K), code 30 (A), value 0\n",
    ])
  func skips(_ text: String) throws {
    let outcome = try read(text, isLenient: true)
    #expect(outcome.error == nil)
    #expect(try outcome.events == [event(1_000_000, 30, .press), event(2_000_000, 30, .release)])
    #expect(outcome.skipped.count == 3)
    let line = text.hasPrefix("#") ? 3 : 2
    #expect(outcome.skipped.first?.line == line)
  }

  @Test("an unknown version of a format is not skipped")
  func version() throws {
    let text = "version: 2\ndevices:\n- node: x\n  events:\n  - evdev:\n    - [1, 0, 1, 30, 1]\n"
    #expect(
      try read(text, isLenient: true).error
        == "FILE:1: unknown format version '2'; expected 1")
  }

  @Test("a file that is not a recording is refused")
  func noRecording() throws {
    #expect(try read("hello\n", isLenient: true).error == "FILE: \(unknownFormat)")
  }

  @Test("wrong raw records and an incomplete last one are skipped")
  func raw() throws {
    var bytes: [UInt8] = []
    for (seconds, type) in [(1, 1), (2, 77), (3, 1)] {
      withUnsafeBytes(of: (Int64(seconds).littleEndian, Int64(0))) { bytes += Array($0) }
      bytes += [UInt8(type), 0, 30, 0, 1, 0, 0, 0]
    }
    let outcome = try Outcome(bytes + [1, 2, 3], format: .raw64, isLenient: true)
    #expect(outcome.error == nil)
    #expect(try outcome.events == [event(1_000_000, 30, .press), event(3_000_000, 30, .press)])
    #expect(outcome.skipped.count == 2)
  }
}
