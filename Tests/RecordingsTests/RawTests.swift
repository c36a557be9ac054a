import KeyboardModes
import Recordings
import Testing

/// The bytes of `struct input_event` on a machine with words of 8 or 4 bytes.
func record(
  _ seconds: Int64, _ microseconds: Int64, _ type: UInt16, _ code: UInt16, _ value: Int32,
  word: Int = 8
) -> [UInt8] {
  func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian, Array.init)
  }
  let time = [bytes(seconds), bytes(microseconds)].flatMap { $0.prefix(word) }
  return time + bytes(type) + bytes(code) + bytes(value)
}

@Suite("Recordings of struct input_event")
struct RawTests {
  @Test("the key events of 64-bit and 32-bit records are returned", arguments: [8, 4])
  func whole(_ word: Int) throws {
    let second: Int64 = 1_500_000_000
    let bytes =
      record(second, 1, 4, 4, 42, word: word) + record(second, 1, 1, 42, 1, word: word)
      + record(second, 1, 0, 0, 0, word: word) + record(second, 250_001, 1, 42, 2, word: word)
      + record(second, 250_001, 0, 0, 1, word: word) + record(second, 999_999, 1, 42, 0, word: word)
      + record(second, 999_999, 0, 0, 0, word: word)
    let outcome = try Outcome(bytes)
    #expect(outcome.error == nil)
    #expect(
      try outcome.events == [
        event(second * 1_000_000 + 1, 42, .press),
        event(second * 1_000_000 + 250_001, 42, .autorepeat),
        event(second * 1_000_000 + 999_999, 42, .release),
      ])
    #expect(try Outcome(bytes, format: word == 8 ? .raw64 : .raw32).events == outcome.events)
  }

  @Test(
    "an incomplete last record is reported, after the records before it", arguments: [1, 18, 23])
  func cutOff(_ count: Int) throws {
    let bytes =
      record(1, 0, 1, 30, 1) + record(1, 0, 0, 0, 0) + record(2, 0, 1, 30, 0).prefix(count)
    let outcome = try Outcome(bytes)
    #expect(outcome.error == "FILE: record 3: the recording is cut off here")
    #expect(try outcome.events == [event(1_000_000, 30, .press)])
  }

  @Test("32-bit seconds beyond 2038 are read")
  func beyond2038() throws {
    let outcome = try Outcome(record(4_000_000_000, 5, 1, 30, 1, word: 4), format: .raw32)
    #expect(try outcome.events == [event(4_000_000_000_000_005, 30, .press)])
  }

  @Test(
    "a bad record is reported with its number",
    arguments: [
      (record(1, 1_000_000, 1, 30, 1), "1000000 microseconds are more than a second"),
      (record(1, -1, 1, 30, 1), "-1 microseconds are more than a second"),
      (record(-1, 0, 1, 30, 1), "the time is out of range"),
      (record(.max, 0, 1, 30, 1), "the time is out of range"),
      (record(0, 0, 0, 0, 0), "the record is all zeros"),
      (record(1, 0, 32, 30, 1), "event type 32 is above 31"),
      (record(1, 0, 1, 768, 1), "key code 768 is above 767"),
      (record(1, 0, 1, 30, 3), "key value 3 is not 0, 1 or 2"),
    ])
  func badRecord(_ bytes: [UInt8], _ message: String) throws {
    let outcome = try Outcome(record(1, 0, 1, 30, 1) + bytes, format: .raw64)
    #expect(outcome.error == "FILE: record 2: \(message)")
    #expect(try outcome.events == [event(1_000_000, 30, .press)])
  }

  @Test("a recording may begin at time 0, and a file of zeros is none", arguments: [8, 4])
  func zero(_ word: Int) throws {
    let zeros = record(0, 0, 0, 0, 0, word: word)
    let bytes =
      record(0, 0, 4, 4, 42, word: word) + record(0, 0, 1, 42, 1, word: word) + zeros
      + record(0, 80_000, 1, 42, 0, word: word) + record(0, 80_000, 0, 0, 0, word: word)
    let outcome = try Outcome(bytes)
    #expect(outcome.error == nil)
    #expect(try outcome.events == [event(0, 42, .press), event(80_000, 42, .release)])
    #expect(
      try Outcome(Array(repeating: 0, count: 4096)).error == "FILE: \(unknownFormat)")
    let format: RecordingFormat = word == 8 ? .raw64 : .raw32
    for (end, number) in [(zeros, 6), (bytes + zeros, 11)] {
      let torn = try Outcome(bytes + end, format: format)
      #expect(torn.error == "FILE: record \(number): the record is all zeros")
    }
  }

  @Test("records may cross the borders of the read buffer")
  func long() throws {
    let count: Int64 = 10_000
    let bytes = (1...count).flatMap { record($0, 7, 1, 30, Int32($0 % 3)) }
    let outcome = try Outcome(bytes)
    #expect(outcome.error == nil)
    #expect(outcome.events.map(\.time.microseconds) == (1...count).map { $0 * 1_000_000 + 7 })
  }
}
