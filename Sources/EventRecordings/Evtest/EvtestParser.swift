import KeyboardModes

/// Parses the output of evtest.
///
///     Event: time 1420070400.123456, type 1 (EV_KEY), code 42 (KEY_LEFTSHIFT), value 1
///     Event: time 1420070400.123456, -------------- SYN_REPORT ------------
///     Event: time 1420070400.234567, >>>>>>>>>>>>>> SYN_DROPPED <<<<<<<<<<<<
///
/// Between such lines there may be any text: a header, text that was typed into the terminal,
/// quotes and line breaks of a mail program. Types and codes are parsed as numbers, because their
/// names have changed over the years. Source: evtest.c of freedesktop.org's evtest.
struct EvtestParser: EntryParser {
  /// The beginnings of header lines.
  private static let marks: [StaticString] = [
    "Event type ", "Event code ", "Supported events:", "Input device ID:", "Input device name:",
  ]

  static func claims(_ line: UnsafeRawBufferPointer) -> Bool {
    let text = line.withoutIndentation
    return marks.contains { text.begins(with: $0) } || isOwn(line)
  }

  private static let event: StaticString = "Event: time "
  private static let version: StaticString = "Input driver version is "

  /// Whether only this format has such a line, which may begin with other text.
  static func isOwn(_ line: UnsafeRawBufferPointer) -> Bool {
    line.firstOffset(of: event) != nil || line.firstOffset(of: version) != nil
  }

  var isRecognized = false

  /// An event whose value is in the next line, because its line was wrapped.
  var wrapped: (time: Time, type: UInt16, code: UInt16)?

  mutating func parse(
    _ line: UnsafeRawBufferPointer, isTerminated: Bool
  ) throws(LineFault) -> Entry? {
    if let start = line.firstOffset(of: Self.event) {
      isRecognized = true
      let lacksValue = isUnfinished
      wrapped = nil
      guard !lacksValue else { throw LineFault("the event before this one has no value") }
      return try parseEvent(Fields(line, from: start + 12), isTerminated)
    }
    if line.firstOffset(of: Self.version) != nil { isRecognized = true }
    try refuseDamagedEvent(line)
    guard isTerminated || line.isEmpty || !"Event: time ".utf8.starts(with: line) else {
      throw LineFault("an event without a time")
    }
    guard let event = wrapped, let start = line.firstOffset(of: "value ") else { return nil }
    wrapped = nil
    return try parseValue(Fields(line, from: start), event)
  }

  var isUnfinished: Bool { wrapped?.type == InputEvent.key }

  /// - Throws: if the line is an event whose beginning is damaged. Any other text is ignored.
  private func refuseDamagedEvent(_ line: UnsafeRawBufferPointer) throws(LineFault) {
    var fields = Fields(line, from: 0)
    let isEvent = fields.skip(to: "type ") && fields.skip(to: "code ") && fields.skip(to: "value ")
    guard !isEvent, line.firstOffset(of: "- SYN_REPORT -") == nil,
      line.firstOffset(of: "> SYN_DROPPED <") == nil
    else { throw LineFault("an event that does not begin with 'Event: time'") }
  }

  private mutating func parseEvent(
    _ fields: consuming Fields, _ isTerminated: Bool
  ) throws(LineFault) -> Entry? {
    let time = try Time(field: fields.next("time", orEndAt: UInt8(ascii: ",")))
    fields.skip(UInt8(ascii: ","))
    let word = try fields.next("type")
    if !word.equals("type") {
      let synchronization = try parseSynchronization(word, &fields, time)
      // A decoration follows each name. A name at the end of the file may have been cut off.
      guard fields.hasMore || isTerminated else { throw LineFault("the name may be cut off") }
      return synchronization
    }
    let type = try number(&fields, "type")
    guard fields.skip(to: "code ") else { throw LineFault("an event without a code") }
    let code = try number(&fields, "code")
    guard fields.skip(to: "value ", keepingIt: true) else {
      wrapped = (time, type, code)
      return nil
    }
    return try parseValue(fields, (time, type, code))
  }

  /// Parses the name of an `EV_SYN` event between dashes, pluses or arrows.
  private func parseSynchronization(
    _ decoration: UnsafeRawBufferPointer, _ rest: inout Fields, _ time: Time
  ) throws(LineFault) -> Entry? {
    guard "-+>".utf8.contains(decoration[0]), let name = rest.next() else {
      throw LineFault("neither 'type' nor a synchronization event follows the time")
    }
    // Each of the other names has ended a report in some version.
    if name.equals("SYN_MT_REPORT") { return nil }
    let isDropped = name.equals("SYN_DROPPED")
    let code = isDropped ? InputEvent.dropped : InputEvent.report
    return .event(InputEvent(time: time, type: InputEvent.synchronization, code: code, value: 0))
  }

  private func parseValue(
    _ fields: consuming Fields, _ event: (time: Time, type: UInt16, code: UInt16)
  ) throws(LineFault) -> Entry? {
    // The values of scan codes are hexadecimal, and those of other types do not matter.
    guard event.type == InputEvent.key || event.type == InputEvent.synchronization else {
      return nil
    }
    _ = fields.next()
    let field = try fields.next("value")
    guard let value = Int32(ascii: field) else {
      throw LineFault("event value \(quoted(field)) is not a decimal number")
    }
    return .event(InputEvent(time: event.time, type: event.type, code: event.code, value: value))
  }

  private func number(_ fields: inout Fields, _ what: String) throws(LineFault) -> UInt16 {
    let field = try fields.next(what, orEndAt: UInt8(ascii: ","))
    guard let number = Int64(digits: field).flatMap({ UInt16(exactly: $0) }) else {
      throw LineFault("event \(what) \(quoted(field)) is not a decimal number")
    }
    return number
  }
}
