import KeyboardModes
import TestSupport
import Testing

@testable import EventRecordings

@Suite("The fast path for regular lines")
struct RegularLinesTests {
  private func typing(_ count: Int, comment: String = "", start: Int = 9) -> [String] {
    (0..<count).flatMap { index in
      let second =
        "\(start + index / 3).\(String(1_000_000 + index * 333_331 % 1_000_000).dropFirst())"
      let key = "00" + ["1e", "2a", "0f", "a9"][index / 2 % 4]
      let scan = index.isMultiple(of: 5) ? ["E: \(second) 0004 0004 -458977\(comment)"] : []
      return scan + [
        "E: \(second) 0001 \(key) 000\((index + 1) % 2)\(comment)",
        "E: \(second) 0000 0000 0000\(comment)",
      ]
    }
  }

  private func recording(_ lines: [String]) -> [UInt8] {
    Array((["# EVEMU 1.3", "N: x"] + lines).map { "\($0)\n" }.joined().utf8)
  }

  @Test(
    "the fast path reads nearly all lines and returns the same as the parser",
    arguments: ["", "\t# EV_KEY / KEY_A                1", " # a", "#"])
  func whole(_ comment: String) throws {
    // More than two read buffers.
    let lines = typing(10000, comment: comment)
    #expect(try expectSame(recording(lines), "comment '\(comment)'") > 9900)
  }

  @Test(
    "the fast path leaves irregular lines to the parser",
    arguments: [
      "E: 1.000000 0001 002A 0001", "E: 1.000000 0001 002a 1", "E: 1.000000 0001 002a 0003",
      "E: 1.000000 0001 002a -001", "E: 1.000000 0001 002a 00010", "E: 1.000000 0001 002a 0001\r",
      "E: 1.000000 0001 0300 0001", "E: 1.000000 0001 02ff 0001", "E: 1.000000 0001 002g 0001",
      "E: 1.000000 0001 0`2a 0001", "E: 1.000000 0001  02a 0001", "E: 1.000000 0000 0003 0000",
      "E: 1.000000 0000 0003 0001", "E: 1.000000 0000 0001 0000",
      "E: 1.000000 0003 0035 99999999999",
      "E: 1.000000 0003 0035 -", "E: 1.000000 0003 0035 0x1", "E: 1.00000 0001 002a 0001",
      "E: 1.0000000 0001 002a 0001", "E: .000000 0001 002a 0001", "E: 1.00:000 0001 002a 0001",
      "E: 1,000000 0001 002a 0001", "E: 123456789012.000000 0001 002a 0001",
      "E: 1234567890123.000000 0001 002a 0001", "E: 99999999999999999.000000 0001 002a 0001",
      "E:\t1.000000 0001 002a 0001", "E:  1.000000 0001 002a 0001", "xE: 1.000000 0001 002a 0001",
      "E: 1.000000 0001 002a 0001x", "E: 1.000000\t0001 002a 0001", "", "N: y", "# a",
      "# keymoded: lost", "# keymoded: held 001d", "# keymoded: gone", "# EVEMU 9.9",
      "E: 1.000000 0001 002a 0001 #" + String(repeating: "x", count: 70000),
      "E: 1.000000 0001 002a 0001 #" + String(repeating: "x", count: 65535 - 28),
      "E: 1.000000 0001 002a 0001 #" + String(repeating: "x", count: 65536 - 28),
    ])
  func others(_ line: String) throws {
    let lines = typing(6)
    try expectSame(recording(lines + [line] + lines), "'\(line.prefix(50))' (\(line.utf8.count))")
  }

  @Test("the fast path returns the same wherever the recording is cut off")
  func cutOff() throws {
    let bytes = recording(typing(6, comment: "\t# a"))
    for count in 0...bytes.count { try expectSame(Array(bytes[..<count]), "\(count) bytes") }
  }

  @Test("the fast path returns the same for lines with changed bytes")
  func changed() throws {
    var generator = SplitMix64(seed: 20_261_121)
    let alphabet = Array("E: .0123456789abcdefAF-#\n\r\t\u{0}`/g:".utf8) + [0xb0, 0xff, 0x10]
    let regular = recording(typing(12))
    for _ in 0..<500 {
      let changed = regular.withChangedBytes(1...3, from: alphabet, using: &generator)
      try expectSame(changed, String(decoding: changed, as: UTF8.self))
    }
  }

  @Test("the fast path merges several files in the same order")
  func merged() throws {
    var generator = SplitMix64(seed: 4)
    let folder = try TemporaryFolder()
    for round in 0..<10 {
      let files = try (0..<3).map { number in
        let lines = (0..<200).map { _ in
          let time = "\(Int.random(in: 1...9, using: &generator)).000000"
          return switch Int.random(in: 0..<20, using: &generator) {
          case 0: "# keymoded: lost\nE: \(time) 0001 001d 0000"
          case 1: "# keymoded: gone"
          case 2: "E: \(time) 0000 0000 0000"
          default: "E: \(time) 0001 001e 0001"
          }
        }
        return try folder.write("\(round).\(number)", recording(lines + ["E: x"]))
      }
      let slow = Reading(files, isFast: false, isLenient: true)
      let quick = Reading(files, isFast: true, isLenient: true)
      #expect(quick == slow)
      #expect(quick.quickInputs > 100)
    }
  }

  @Test("the fast path reads all times and key codes correctly")
  func numbers() throws {
    var generator = SplitMix64(seed: 7)
    var expected: [KeyEvent] = []
    var lines = ["E: 0.000000 0001 0001 0001"]
    for index in 0..<3000 {
      let key = try #require(KeyCode(index % (Int(KeyCode.max) + 1)))
      let time = Int64.random(in: 0..<2_000_000_000_000_000, using: &generator)
      let action = try #require(KeyEvent.Action(rawValue: Int32(index % 3)))
      expected.append(KeyEvent(time: Time(microseconds: time), key: key, action: action))
      let fraction = String(1_000_000 + time % 1_000_000).dropFirst()
      let code = String(0x10000 + Int(key.number), radix: 16).dropFirst()
      lines.append("E: \(time / 1_000_000).\(fraction) 0001 \(code) 000\(index % 3)")
    }
    let folder = try TemporaryFolder()
    let reading = Reading(
      [try folder.write("recording", recording(lines))], isFast: true, isLenient: false)
    #expect(reading.error == nil)
    #expect(reading.quickInputs == 3000)
    #expect(
      reading.inputs.dropFirst() == expected.map { RecordedInput(DeviceID(order: 0), $0) }[...])
  }

  @Test("the fast path returns the same for records, also with changed bytes", arguments: [8, 4])
  func records(_ word: Int) throws {
    var generator = SplitMix64(seed: 99)
    func bytes(_ number: some FixedWidthInteger, _ count: Int) -> [UInt8] {
      withUnsafeBytes(of: number.littleEndian, Array.init).prefix(count) + []
    }
    let regular = (0..<120).flatMap { index -> [UInt8] in
      let time = bytes(Int64(1_500_000_000 + index), word) + bytes(Int64(index), word)
      let isKey = index.isMultiple(of: 2)
      return time + bytes(UInt16(isKey ? 1 : 0), 2) + bytes(UInt16(isKey ? 30 : 0), 2)
        + bytes(Int32(isKey ? index / 2 % 3 : 0), 4)
    }
    #expect(try expectSame(regular, "regular") == 59)
    let size = 2 * word + 8
    for _ in 0..<300 {
      var changed = regular
      // The format is detected by the first records.
      let index = Int.random(in: 64 * size..<changed.count, using: &generator)
      changed[index] = UInt8.random(in: 0...255, using: &generator)
      if Bool.random(using: &generator) {
        changed.removeLast(Int.random(in: 0..<size, using: &generator))
      }
      try expectSame(changed, "byte \(index) is \(changed[min(index, changed.count - 1)])")
    }
  }
}
