import KeyboardModes

/// Parses `struct input_event` as a device yields it. The byte order is little endian, that of all
/// machines that record today.
///
/// Source: `linux/input.h`. Both parts of the time have the size of the machine's `long`; 32-bit
/// ones are unsigned, so that they last beyond 2038.
struct RawParser: EntryParser {
  static let size64 = 24
  static let size32 = 16

  /// The parsers of records of 64-bit and 32-bit programs.
  static let bits64 = RawParser(size: size64)
  static let bits32 = RawParser(size: size32)

  let size: Int

  var recordSize: Int? { size }
  var isRecognized: Bool { true }

  func parse(_ record: UnsafeRawBufferPointer, isTerminated: Bool) throws(LineFault) -> Entry? {
    guard isTerminated, let base = record.baseAddress else {
      throw LineFault("\(record.count) bytes of \(size)")
    }
    let parts = Self.parts(of: base, size: size)
    let seconds = Int64(bitPattern: parts.seconds)
    let microseconds = Int64(bitPattern: parts.microseconds)
    guard 0..<1_000_000 ~= microseconds else {
      throw LineFault("\(microseconds) microseconds are more than a second")
    }
    // No event happens when the kernel's clock is at zero. A file full of zeros is invalid.
    guard let time = try? Time(seconds: seconds, microseconds: microseconds), time.microseconds > 0
    else { throw LineFault("the time is out of range") }
    guard parts.type < 0x20 else { throw LineFault("event type \(parts.type) is above 31") }
    return .event(InputEvent(time: time, type: parts.type, code: parts.code, value: parts.value))
  }

  /// Whether `bytes` begin with valid records.
  func claims(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let count = min(bytes.count / size, 64)
    return count > 0
      && (0..<count).allSatisfy { index in
        let record = UnsafeRawBufferPointer(rebasing: bytes[index * size..<(index + 1) * size])
        return (try? parse(record, isTerminated: true)) != nil
      }
  }

  /// The fields of a record.
  struct Parts {
    let seconds: UInt64
    let microseconds: UInt64
    fileprivate let rest: UInt64

    var type: UInt16 { UInt16(truncatingIfNeeded: rest) }
    var code: UInt16 { UInt16(truncatingIfNeeded: rest >> 16) }
    var value: Int32 { Int32(truncatingIfNeeded: rest >> 32) }
  }

  /// The fields of the record at `record`, which has one of the two sizes.
  @inline(__always)
  static func parts(of record: UnsafeRawPointer, size: Int) -> Parts {
    let rest = record.loadUnaligned(fromByteOffset: size - 8, as: UInt64.self).littleEndian
    return size == size64
      ? Parts(
        seconds: record.loadUnaligned(as: UInt64.self).littleEndian,
        microseconds: record.loadUnaligned(fromByteOffset: 8, as: UInt64.self).littleEndian,
        rest: rest)
      : Parts(
        seconds: UInt64(record.loadUnaligned(as: UInt32.self).littleEndian),
        microseconds: UInt64(record.loadUnaligned(fromByteOffset: 4, as: UInt32.self).littleEndian),
        rest: rest)
  }
}
