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
      let parts = parts(of: record, size: size)
      // Twelve digits of seconds are 31,700 years, and no sum overflows.
      guard parts.microseconds < 1_000_000, parts.seconds < 1_000_000_000_000,
        parts.seconds | parts.microseconds > 0, parts.type < 0x20
      else { break }
      if parts.type == InputEvent.key {
        guard let key = KeyCode(parts.code), let action = KeyEvent.Action(rawValue: parts.value)
        else { break }
        let microseconds = parts.seconds &* 1_000_000 &+ parts.microseconds
        let time = Time(microseconds: Int64(truncatingIfNeeded: microseconds))
        events.initializeElement(
          at: length.events, to: KeyEvent(time: time, key: key, action: action))
        length.events += 1
      } else if parts.type == InputEvent.synchronization, parts.code == InputEvent.dropped {
        break
      }
      record += size
      length.parts += 1
    }
    length.bytes = record - records.start
    return length
  }
}
