import KeyboardModes

/// Parses `struct input_event` as a device yields it. The byte order is little endian, that of all
/// machines that record today.
///
/// Source: `linux/input.h`. Both parts of the time have the size of the machine's `long`; 32-bit
/// ones are unsigned, so that they last beyond 2038.
enum RawRecord {
  static let size64 = 24
  static let size32 = 16

  /// The event in `bytes`, which have one of the two sizes.
  static func event(_ bytes: UnsafeRawBufferPointer) throws(LineFault) -> InputEvent {
    guard let base = bytes.baseAddress else { throw LineFault("an event of no bytes") }
    let parts = parts(of: base, size: bytes.count)
    let seconds = Int64(bitPattern: parts.seconds)
    let microseconds = Int64(bitPattern: parts.microseconds)
    guard 0..<1_000_000 ~= microseconds else {
      throw LineFault("\(microseconds) microseconds are more than a second")
    }
    // No event happens when the kernel's clock is at zero. A file full of zeros is invalid.
    guard let time = try? Time(seconds: seconds, microseconds: microseconds), time.microseconds > 0
    else { throw LineFault("the time is out of range") }
    guard parts.type < 0x20 else { throw LineFault("event type \(parts.type) is above 31") }
    return InputEvent(time: time, type: parts.type, code: parts.code, value: parts.value)
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

  /// Whether `bytes` begin with valid records of this size.
  static func areRecords(_ bytes: UnsafeRawBufferPointer, size: Int) -> Bool {
    let count = min(bytes.count / size, 64)
    return count > 0
      && (0..<count).allSatisfy { index in
        let record = UnsafeRawBufferPointer(rebasing: bytes[index * size..<(index + 1) * size])
        return (try? event(record)) != nil
      }
  }
}
