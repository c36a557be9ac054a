import KeyboardModes
import TestSupport
import Testing

@testable import EventRecordings

@Suite("The fast paths of evtest, getevent and libinput")
struct RegularFormatsTests {
  private func bytes(_ lines: [String]) -> [UInt8] {
    Array(lines.map { "\($0)\n" }.joined().utf8)
  }

  @Test(
    "the fast path reads nearly all lines and returns the same as the parser, also from a pipe",
    arguments: RegularFormat.all)
  func whole(_ format: RegularFormat) throws {
    // More than two read buffers.
    let recording = bytes(format.recording(of: 2000))
    #expect(try expectSame(recording, format.testDescription) > 1900)
    let outcome = try Outcome(recording)
    #expect(outcome.events.count == 2000)
    #expect(outcome.error == nil)
    #expect(try Outcome(recording, throughPipe: true) == outcome)
  }

  @Test(
    "the fast path returns the same wherever the recording is cut off",
    arguments: RegularFormat.all)
  func cutOff(_ format: RegularFormat) throws {
    let recording = bytes(format.recording(of: 6))
    for count in 0...recording.count {
      try expectSame(Array(recording[..<count]), "\(count) bytes")
    }
  }

  @Test("the fast path returns the same for lines with changed bytes", arguments: RegularFormat.all)
  func changed(_ format: RegularFormat) throws {
    var generator = SplitMix64(seed: 20_261_122)
    let alphabet = Array(format.alphabet.utf8) + [0, 0x7f, 0x85, 0xa0, 0xc2, 0xff]
    let regular = bytes(format.recording(of: 12))
    for _ in 0..<100 {
      let changed = regular.withChangedBytes(1...3, from: alphabet, using: &generator)
      try expectSame(changed, String(decoding: changed, as: UTF8.self))
    }
  }

  @Test("the fast path leaves irregular lines to the parser", arguments: RegularFormat.all)
  func irregular(_ format: RegularFormat) throws {
    let (start, end) = ((0..<8).flatMap(format.report), (8..<16).flatMap(format.report))
    for line in format.others {
      let what = "'\(line.prefix(80))'"
      try expectSame(bytes(format.header + start + [line] + end), what)
      var within = start
      within.insert(line, at: start.count - 1)
      try expectSame(bytes(format.header + within + end), "within: \(what)")
    }
  }

  @Test("the fast path of getevent reads several devices, each batch of one")
  func devices() throws {
    var generator = SplitMix64(seed: 5)
    let lines = (0..<3000).map { index in
      let device = Int.random(in: 1...3, using: &generator)
      let end = index.isMultiple(of: 500) ? "remove device 1: /dev/input/event\(device)\n" : ""
      return "\(end)[       9.000000] /dev/input/event\(device): 0001 001e 0000000\(index % 3)"
    }
    #expect(try expectSame(bytes(lines), "several devices") > 2900)
  }

  @Test("the fast path of libinput reads several devices of one recording", arguments: [1, 2])
  func libinputDevices(_ told: Int) throws {
    let format = RegularFormat.libinput
    let header = format.header.map { $0.replacing("ndevices: 1", with: "ndevices: \(told)") }
    let lines = (0..<20).flatMap(format.report)
    let section = Array(header[4...]) + lines
    let quick = try expectSame(bytes(Array(header[..<4]) + section + section), "\(told) devices")
    #expect(told == 2 || quick > 15)
  }

  @Test("the fast path of libinput warns of obfuscated keys")
  func obfuscated() throws {
    let format = RegularFormat.libinput
    let marked = format.recording(of: 300).map { $0.contains(" / ") ? "\($0) (obfuscated)" : $0 }
    let hidden = (0..<300).flatMap { index -> [String] in
      var report = format.report(index)
      report[1] = format.line(9, 0, 4, 4, 30)
      return report
    }
    for (lines, count) in [
      (marked, 1), (format.header + hidden, 1), (format.recording(of: 300), 0),
    ] {
      try expectSame(bytes(lines), "\(count) warnings")
      #expect(try Outcome(bytes(lines)).warnings.count == count)
    }
  }
}
