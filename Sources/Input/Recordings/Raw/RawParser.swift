import KeyboardModes

/// Parses `struct input_event` as a device yields it. The byte order is little endian, as on all
/// machines that record today.
///
/// Source: `linux/input.h`. Seconds and microseconds have the size of the machine's `long`. Seconds
/// of 32 bits are read as unsigned, so that they last beyond 2038.
struct RawParser: EntryParser {
  static let size64 = 24

  /// The parsers of records of 64-bit and 32-bit programs.
  static let bits64 = RawParser(size: size64)
  static let bits32 = RawParser(size: 16)

  private let size: Int

  /// Whether the last record of the time 0 had data. A `SYN_REPORT`, all zeros, may follow such a
  /// record.
  private var hasDataAtZero = false

  private init(size: Int) { self.size = size }

  var recordSize: Int? { size }
  var isRecognized: Bool { true }

  @inline(__always)
  mutating func parse(_ record: UnsafeRawBufferPointer) throws(LineError) -> Entry? {
    let seconds = timePart(0, of: record)
    let microseconds = timePart(1, of: record)
    guard 0..<1_000_000 ~= microseconds else {
      throw LineError("\(microseconds) microseconds are more than a second")
    }
    guard 0..<Time.secondsLimit ~= seconds else { throw LineError("the time is out of range") }
    let time = Time(microseconds: seconds * 1_000_000 + microseconds)
    let rest = record.loadUnaligned(fromByteOffset: size - 8, as: UInt64.self).littleEndian
    if time.microseconds == 0 { try refuseZeros(rest) }
    let type = UInt16(truncatingIfNeeded: rest)
    guard type < 0x20 else { throw LineError("event type \(type) is above 31") }
    let code = UInt16(truncatingIfNeeded: rest >> 16)
    let value = Int32(truncatingIfNeeded: rest >> 32)
    return .event(InputEvent(time: time, type: type, code: code, value: value))
  }

  /// Throws if the record is all zeros but ends no report: a file of zeros is no recording.
  @inline(never)
  private mutating func refuseZeros(_ rest: UInt64) throws(LineError) {
    guard hasDataAtZero || rest != 0 else { throw LineError("the record is all zeros") }
    hasDataAtZero = rest != 0
  }

  /// The seconds of the time (0) or its microseconds (1).
  private func timePart(_ index: Int, of record: UnsafeRawBufferPointer) -> Int64 {
    size == Self.size64
      ? record.loadUnaligned(fromByteOffset: 8 * index, as: Int64.self).littleEndian
      : Int64(record.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self).littleEndian)
  }

  /// Whether `bytes` begin with valid records; checks the first 64.
  func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let count = min(bytes.count / size, 64)
    var parser = self
    return count > 0
      && (0..<count).allSatisfy { index in
        let record = UnsafeRawBufferPointer(rebasing: bytes[index * size..<(index + 1) * size])
        return (try? parser.parse(record)) != nil
      }
  }
}
