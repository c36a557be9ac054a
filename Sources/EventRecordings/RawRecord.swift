internal import KeyboardModes

/// Reads `struct input_event` as a device yields it, in the byte order of all machines that record
/// today: little endian.
///
/// Source: `linux/input.h`. The two parts of the time are as wide as the machine's `long`; on 32-bit
/// machines they are without sign, so that they last beyond 2038.
enum RawRecord {
  static let size64 = 24
  static let size32 = 16

  /// The event in `bytes`, of one of the two sizes.
  static func event(_ bytes: UnsafeRawBufferPointer) throws(LineFault) -> InputEvent {
    let (seconds, microseconds, rest) =
      bytes.count == size64
      ? (
        bytes.loadUnaligned(as: Int64.self).littleEndian,
        bytes.loadUnaligned(fromByteOffset: 8, as: Int64.self).littleEndian, 16
      )
      : (
        Int64(bytes.loadUnaligned(as: UInt32.self).littleEndian),
        Int64(bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self).littleEndian), 8
      )
    guard 0..<1_000_000 ~= microseconds else {
      throw LineFault("\(microseconds) microseconds are more than a second")
    }
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    let (time, carry) = whole.addingReportingOverflow(microseconds)
    // No clock of the kernel is at zero when something is typed, but a file full of zeros is.
    guard seconds >= 0, time > 0, !overflow, !carry else {
      throw LineFault("the time is out of range")
    }
    let type = bytes.loadUnaligned(fromByteOffset: rest, as: UInt16.self).littleEndian
    guard type < 0x20 else { throw LineFault("event type \(type) is above 31") }
    return InputEvent(
      time: Time(microseconds: time), type: type,
      code: bytes.loadUnaligned(fromByteOffset: rest + 2, as: UInt16.self).littleEndian,
      value: bytes.loadUnaligned(fromByteOffset: rest + 4, as: Int32.self).littleEndian)
  }

  /// Whether `bytes` look like records of this size from the start.
  static func areRecords(_ bytes: UnsafeRawBufferPointer, size: Int) -> Bool {
    let count = min(bytes.count / size, 64)
    return count > 0
      && (0..<count).allSatisfy { place in
        let record = UnsafeRawBufferPointer(rebasing: bytes[place * size..<(place + 1) * size])
        return (try? event(record)) != nil
      }
  }
}
