import Foundation
import KeyboardModes
import Recordings
import TestSupport
import Testing

private let evemu = (1...4).map { "E: \($0).000000 0001 001e 000\($0 % 2)\n" }.joined()
private let getevent = (1...4).map {
  "[       \($0).000000] /dev/input/event2: 0001 001e 0000000\($0 % 2)\n"
}.joined()
private let evtest = (1...4).map {
  "Event: time \($0).000000, type 1 (EV_KEY), code 30 (KEY_A), value \($0 % 2)\n"
}.joined()
private let libinput = """
  # libinput record
  version: 1
  ndevices: 1
  devices:
  - node: /dev/input/event4
    events:
    - evdev:
      - [  1,      0,   1,  30,       1] # EV_KEY / KEY_A
      - [  1,      0,   0,   0,       0] # SYN_REPORT
    - evdev:
      - [  2,      0,   1,  30,       0] # EV_KEY / KEY_A
      - [  2,      0,   0,   0,       0] # SYN_REPORT
    - evdev:
      - [  3,      0,   1,  30,       1] # EV_KEY / KEY_A
      - [  3,      0,   0,   0,       0] # SYN_REPORT
    - evdev:
      - [  4,      0,   1,  30,       0] # EV_KEY / KEY_A
      - [  4,      0,   0,   0,       0] # SYN_REPORT

  """
private let all: [(RecordingFormat, String)] = [
  (.evemu, evemu), (.getevent, getevent), (.evtest, evtest), (.libinput, libinput),
]

@Suite("Formats of recordings")
struct FormatTests {
  private func expected() throws -> [KeyEvent] {
    try (1...4).map { try event(Int64($0) * 1_000_000, 30, $0 % 2 == 1 ? .press : .release) }
  }

  @Test("the format is that of the first line that a format has, wherever others are behind it")
  func foreignLine() throws {
    let foreign: [(RecordingFormat?, String)] = [
      (.evemu, "E: 0.500000 0001 0030 0001\n"), (.evemu, "N: keyboard\n"),
      (.evemu, "# EVEMU 1.3\n"), (nil, "[kworker/0:1]\n"),
      (.getevent, "[       0.500000] /dev/input/event1: 0001 0030 00000001\n"),
      (.getevent, "add device 1: /dev/input/event1\n"),
      (.evtest, "Event: time 0.500000, type 1 (EV_KEY), code 48 (KEY_B), value 1\n"),
      (.evtest, "Input driver version is 1.0.1\n"), (.libinput, "    - [0, 5, 1, 48, 1]\n"),
    ]
    for (format, text) in all {
      let lines = text.split(separator: "\n").map { "\($0)\n" }
      for (other, line) in foreign where other != format {
        for index in (other == nil ? 0 : 1)...lines.count {
          let mixed = (lines[..<index] + [line] + lines[index...]).joined()
          let detected = try read(mixed, isLenient: true)
          let named = try read(mixed, format: format, isLenient: true)
          #expect(detected == named, "\(line) at \(index) in \(format)")
          #expect(detected.events.count == 4, "\(line) at \(index) in \(format)")
        }
      }
    }
  }

  @Test("of two formats in one file, the one that comes first is detected")
  func first() throws {
    for (format, text) in all.dropLast() {
      for (other, second) in all.dropLast() where format != other {
        let outcome = try read(text + second, isLenient: true)
        #expect(try outcome.events == expected(), "\(format), then \(other)")
      }
    }
  }

  @Test("the format is detected and an event returned as soon as a pipe has them", arguments: 0..<5)
  func trickling(_ number: Int) throws {
    let folder = try TemporaryFolder()
    let pipe = "\(folder.path)/pipe"
    try #require(mkfifo(pipe, 0o600) == 0)
    let descriptor = open(pipe, O_RDWR)
    try #require(descriptor >= 0)
    let writer = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
    // A reader that waits for more input gets the end of the pipe, and then the test fails.
    let patience = DispatchWorkItem { close(descriptor) }
    DispatchQueue.global().asyncAfter(deadline: .now() + 20, execute: patience)
    defer { patience.cancel() }

    var parts: [Data]
    if number < 4 {
      let lines = all[number].1.split(separator: "\n").map { Data("\($0)\n".utf8) }
      let count = number == 3 ? 9 : 1
      parts = [Data(lines[..<count].joined()), Data(lines[count...].joined())]
    } else {
      let records = (1...4).flatMap { second -> [UInt8] in
        withUnsafeBytes(of: (Int64(second).littleEndian, Int64(0))) { Array($0) }
          + [1, 0, 30, 0, UInt8(second % 2), 0, 0, 0]
      }
      parts = [Data(records[..<24]), Data(records[24...])]
    }
    try writer.write(contentsOf: parts[0])
    var recording = try Recording(opening: [pipe])
    let press = try expected()[0]
    #expect(try recording.next()?.inputs == [.key(DeviceID(order: 0), press)])
    try writer.write(contentsOf: parts[1])
    try #require(!patience.isCancelled)
    patience.cancel()
    close(descriptor)
    var count = 1
    while let batch = try recording.next() { count += batch.count }
    #expect(count == 4)
  }

  @Test("an event that is cut off is reported with its line even if the file has nothing else")
  func onlyEventCutOff() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("recording", "E: 1.0 0001")
    var recording = try Recording(opening: [file])
    do throws(RecordingError) {
      _ = try recording.next()
      Issue.record("nothing is reported")
    } catch {
      let text = "\(file):1: the recording is cut off here (read as evemu)"
      #expect(recording.explained(error).description == text)
    }
  }

  @Test("a fault names the format if it was detected")
  func namedFormat() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("recording", evemu + "hello\n")
    for format in [nil, RecordingFormat.evemu] {
      let recording = try Recording(opening: [file], format: format)
      let fault = RecordingError("wrong", file: file, line: 5)
      let other = RecordingError("wrong", file: "/elsewhere")
      let text = format == nil ? "\(file):5: wrong (read as evemu)" : "\(file):5: wrong"
      #expect(recording.explained(fault).description == text)
      #expect(recording.explained(other) == other)
    }
  }
}

@Suite("Faults in lines")
struct LineErrorTests {
  @Test(
    "an event with a damaged beginning or a missing end is reported",
    arguments: [
      (.evtest, "aEvent: time 2.000000, type 1 (EV_KEY), code 30 (KEY_A), value 0\n"),
      (.evtest, "Event: ti"), (.evtest, "E"),
      (.evtest, "Event: time 2.000000, >>>>>>>>>>>>>> SYN_DRO"),
      (.getevent, "x      2.000000] /dev/input/event2: 0001 001e 00000000\n"),
      (.getevent, "       2.000000] /dev/input/event2: EV_KEY KEY_A UP\n"),
      (.getevent, "1234-5"), (.getevent, "[   12"),
    ] as [(RecordingFormat, String)])
  func damagedEvent(_ format: RecordingFormat, _ line: String) throws {
    let text = try #require(all.first { $0.0 == format }).1
    let outcome = try read(text + line)
    #expect(outcome.error?.hasPrefix("FILE:5: ") == true, "\(outcome.error ?? "no error")")
    #expect(outcome.events.count == 4)
    let lenient = try read(text + line, isLenient: true)
    #expect(lenient.skipped.count == 1)
    #expect(lenient.skipped.first?.line == 5)
  }

  @Test("a line of more than 64 KiB ends the reading, even if faults are skipped")
  func longLine() throws {
    for (length, error) in [(65_535, nil), (65_536, "FILE:2: not a line of text")] {
      let long = "#" + String(repeating: "x", count: length - 1)
      let outcome = try read(
        "E: 1.000000 0001 001e 0001\n\(long)\nE: 2.000000 0001 001e 0000\n", isLenient: true)
      #expect(outcome.error == error)
      #expect(outcome.events.count == (error == nil ? 2 : 1))
    }
  }
}
