import KeyboardModes

/// Parses the output of evtest.
///
///     Event: time 1420070400.123456, type 1 (EV_KEY), code 42 (KEY_LEFTSHIFT), value 1
///     Event: time 1420070400.123456, -------------- SYN_REPORT ------------
///     Event: time 1420070400.234567, >>>>>>>>>>>>>> SYN_DROPPED <<<<<<<<<<<<
///
/// The header is ignored, and so is text that was typed into the terminal between the events. Types
/// and codes are parsed as numbers, because their names have changed over the years. Source:
/// evtest.c of freedesktop.org's evtest.
struct EvtestParser: EntryParser {
  private(set) var isRecognized = false

  mutating func parse(_ line: UnsafeRawBufferPointer) throws(LineFault) -> Entry? {
    var fields = Fields(line)
    guard fields.skip("Event: time ") else {
      let isHeader =
        line.begins(with: "Input driver version is ") || line.begins(with: "Supported events:")
      if isHeader { isRecognized = true }
      // The terminal may have echoed a typed letter at the beginning of the line.
      guard line.firstOffset(of: "Event: time ") == nil else {
        throw LineFault("an event that does not begin with 'Event: time'")
      }
      return nil
    }
    isRecognized = true
    let time = try fields.time()
    _ = fields.skip(.comma)
    fields.skipSpace()
    guard fields.skip("type") else { return try parseSynchronization(&fields, time) }
    let type = try number(&fields, "type")
    guard fields.skip(to: "code ") else { throw LineFault("an event without a code") }
    let code = try number(&fields, "code")
    guard fields.skip(to: ", value ") else { throw LineFault("an event without a value") }
    guard type == InputEvent.key || type == InputEvent.led || type == InputEvent.synchronization
    else {
      // These events are ignored. The values of scan codes among them are hexadecimal.
      guard fields.next() != nil else { throw LineFault("an event without a value") }
      return nil
    }
    return .event(InputEvent(time: time, type: type, code: code, value: try fields.value()))
  }

  /// Parses the name of an `EV_SYN` event between dashes, pluses or arrows.
  private func parseSynchronization(
    _ fields: inout Fields, _ time: Time
  ) throws(LineFault) -> Entry? {
    guard let decoration = fields.next() else { throw LineFault("an event without a type") }
    guard "-+>".utf8.contains(decoration[0]), let name = fields.next() else {
      throw LineFault("neither 'type' nor a synchronization event follows the time")
    }
    // Each of the other names ends a report in some version of evtest.
    if name.equals("SYN_MT_REPORT") { return nil }
    let code = name.equals("SYN_DROPPED") ? InputEvent.dropped : InputEvent.report
    return .event(InputEvent(time: time, type: InputEvent.synchronization, code: code, value: 0))
  }

  private func number(_ fields: inout Fields, _ what: String) throws(LineFault) -> UInt16 {
    let start = fields
    guard let number = fields.decimal().flatMap(UInt16.init(exactly:)) else {
      throw start.fault(what, "is not a decimal number")
    }
    return number
  }
}
