import KeyboardModes

/// Parses the output of evtest.
///
///     Event: time 1420070400.123456, type 1 (EV_KEY), code 42 (KEY_LEFTSHIFT), value 1
///     Event: time 1420070400.123456, -------------- SYN_REPORT ------------
///     Event: time 1420070400.234567, >>>>>>>>>>>>>> SYN_DROPPED <<<<<<<<<<<<
///
/// The header is ignored, and so is text that was typed into the terminal between such lines. Types
/// and codes are parsed as numbers, because their names have changed over the years. Source:
/// evtest.c of freedesktop.org's evtest.
struct EvtestParser: EntryParser {
  static let beginnings: StaticString = "EIS"

  private(set) var isRecognized = false

  /// The beginnings of header lines.
  private static let headers: [StaticString] = [
    "Input driver version is ", "Input device ID:", "Input device name:", "Supported events:",
    "  Event type ", "    Event code ",
  ]

  /// What only lines of events contain.
  private static let marks: [StaticString] = ["Event: time ", ", value ", "- SYN_", "> SYN_"]

  mutating func parse(
    _ line: UnsafeRawBufferPointer, isComplete: Bool
  ) throws(LineFault) -> Entry? {
    var fields = Fields(line)
    guard fields.skip("Event: time ") else {
      try parseOther(line, isComplete: isComplete)
      return nil
    }
    isRecognized = true
    let time = try fields.time(orEndAt: UInt8(ascii: ","))
    _ = fields.skip(UInt8(ascii: ","))
    fields.skipSpace()
    guard fields.skip("type") else {
      let synchronization = try parseSynchronization(&fields, time)
      // A decoration follows each name. A name at the end of the file may have been cut off.
      guard fields.hasMore || isComplete else { throw LineFault("the name may be cut off") }
      return synchronization
    }
    let type = try number(&fields, "type")
    guard fields.skip(to: "code ") else { throw LineFault("an event without a code") }
    let code = try number(&fields, "code")
    guard fields.skip(to: ", value ") else { throw LineFault("an event without a value") }
    guard type == InputEvent.key || type == InputEvent.led || type == InputEvent.synchronization
    else {
      // The values of scan codes are hexadecimal, and those of other types do not matter.
      _ = try fields.next("value")
      return nil
    }
    return .event(InputEvent(time: time, type: type, code: code, value: try fields.value()))
  }

  /// Parses the name of an `EV_SYN` event between dashes, pluses or arrows.
  private func parseSynchronization(
    _ fields: inout Fields, _ time: Time
  ) throws(LineFault) -> Entry? {
    let decoration = try fields.next("type")
    guard "-+>".utf8.contains(decoration[0]), let name = fields.next() else {
      throw LineFault("neither 'type' nor a synchronization event follows the time")
    }
    // Each of the other names has ended a report in some version.
    if name.equals("SYN_MT_REPORT") { return nil }
    let code = name.equals("SYN_DROPPED") ? InputEvent.dropped : InputEvent.report
    return .event(InputEvent(time: time, type: InputEvent.synchronization, code: code, value: 0))
  }

  /// - Throws: if the line is an event whose beginning is damaged. Any other text is ignored.
  private mutating func parseOther(
    _ line: UnsafeRawBufferPointer, isComplete: Bool
  ) throws(LineFault) {
    if Self.headers.contains(where: { line.begins(with: $0) }) { isRecognized = true }
    guard !Self.marks.contains(where: { line.firstOffset(of: $0) != nil }) else {
      throw LineFault("an event that does not begin with 'Event: time'")
    }
    guard isComplete || line.isEmpty || !"Event: time ".utf8.starts(with: line) else {
      throw LineFault("an event without a time")
    }
  }

  private func number(_ fields: inout Fields, _ what: String) throws(LineFault) -> UInt16 {
    let comma = UInt8(ascii: ",")
    let start = fields
    guard let number = fields.decimal(orEndAt: (comma, comma)).flatMap(UInt16.init(exactly:)) else {
      throw start.fault(what, "is not a decimal number", orEndAt: comma)
    }
    return number
  }
}
