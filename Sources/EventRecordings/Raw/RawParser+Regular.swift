import KeyboardModes

extension RawParser {
  static var hasRegularLines: Bool { true }

  /// The fast path: parses records for as long as each is valid, and is a key event or says
  /// nothing. The first other record is left to ``parse(_:isTerminated:)``.
  func parseRegular(
    _ records: RegularText, into events: UnsafeMutableBufferPointer<KeyEvent>
  ) -> RegularText.Length {
    // A constant size lets the compiler specialize the loop.
    size == Self.size64
      ? Self.parseRegular(records, of: Self.size64, into: events)
      : Self.parseRegular(records, of: Self.size32, into: events)
  }

  @inline(__always)
  private static func parseRegular(
    _ records: RegularText, of size: Int, into events: UnsafeMutableBufferPointer<KeyEvent>
  ) -> RegularText.Length {
    var length = RegularText.Length()
    var record = records.start
    while length.events < events.count, records.end - record >= size {
      let parts = parts(of: record, size: size)
      // Twelve digits of seconds are 31,700 years; in microseconds they do not overflow.
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
