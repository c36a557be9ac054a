internal import KeyboardModes

extension RawRecord {
  /// Reads the records that are right and that nothing but a key event comes of, if anything does.
  /// ``event(_:)`` alone decides what is wrong with the one that follows them.
  static func takeRegular(
    _ records: RegularText, size: Int, into events: UnsafeMutableBufferPointer<KeyEvent>
  ) -> RunLength {
    // What is known of the size lets the compiler leave the other one out of the loop.
    size == size64
      ? takeRegular(records, of: size64, into: events)
      : takeRegular(records, of: size32, into: events)
  }

  @inline(__always)
  private static func takeRegular(
    _ records: RegularText, of size: Int, into events: UnsafeMutableBufferPointer<KeyEvent>
  ) -> RunLength {
    var length = RunLength()
    var record = records.start
    while length.events < events.count, records.end - record >= size {
      let (seconds, microseconds) =
        size == size64
        ? (
          record.loadUnaligned(as: UInt64.self).littleEndian,
          record.loadUnaligned(fromByteOffset: 8, as: UInt64.self).littleEndian
        )
        : (
          UInt64(record.loadUnaligned(as: UInt32.self).littleEndian),
          UInt64(record.loadUnaligned(fromByteOffset: 4, as: UInt32.self).littleEndian)
        )
      // Type, code and value. Twelve digits of seconds are 31,700 years, and no sum overflows.
      let rest = (record + (size - 8)).loadUnaligned(as: UInt64.self).littleEndian
      let type = UInt16(truncatingIfNeeded: rest)
      let code = UInt16(truncatingIfNeeded: rest >> 16)
      guard microseconds < 1_000_000, seconds < 1_000_000_000_000, seconds | microseconds > 0,
        type < 0x20
      else { break }
      if type == InputEvent.key {
        let value = Int32(truncatingIfNeeded: rest >> 32)
        guard let key = KeyCode(code), let action = KeyEvent.Action(rawValue: value) else { break }
        let time = Time(
          microseconds: Int64(truncatingIfNeeded: seconds &* 1_000_000 &+ microseconds))
        events.initializeElement(
          at: length.events, to: KeyEvent(time: time, key: key, action: action))
        length.events += 1
      } else if type == InputEvent.synchronization, code == InputEvent.dropped {
        break
      }
      record += size
      length.parts += 1
    }
    length.bytes = record - records.start
    return length
  }
}
