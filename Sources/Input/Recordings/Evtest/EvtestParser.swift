import KeyboardModes

/// Parses the output of evtest.
///
///     Event: time 1420070400.123456, type 1 (EV_KEY), code 42 (KEY_LEFTSHIFT), value 1
///     Event: time 1420070400.123456, -------------- SYN_REPORT ------------
///     Event: time 1420070400.234567, >>>>>>>>>>>>>> SYN_DROPPED <<<<<<<<<<<<
///
/// The parser takes only the ids and the states of LEDs from the header. Types and codes are parsed
/// as numbers, because their names have changed over the years. Source: evtest.c of
/// freedesktop.org's evtest.
struct EvtestParser: EntryParser {
  private(set) var isRecognized = false

  /// The type in the header's last line `Event type`; the codes in the lines below have this type.
  private var listedType: Int64?

  mutating func parse(_ line: UnsafeRawBufferPointer) throws(LineError) -> Entry? {
    let line = line.withoutIndentation
    var fields = Fields(line)
    guard fields.skip("Event: time ") else { return try parseOther(line) }
    isRecognized = true
    let time = try fields.time()
    _ = fields.skip(.comma)
    fields.skipSpace()
    guard fields.skip("type") else { return try parseSynchronization(&fields, time) }
    let type = try number(&fields, "type")
    guard fields.skip(past: "code ") else { throw LineError("an event without a code") }
    let code = try number(&fields, "code")
    guard fields.skip(past: ", value ") else { throw LineError("an event without a value") }
    guard type == InputEvent.key || type == InputEvent.led || type == InputEvent.synchronization
    else {
      // Ignores these events, and does not parse their values: the values of scan codes are
      // hexadecimal.
      guard fields.next() != nil else { throw LineError("an event without a value") }
      return nil
    }
    return .event(InputEvent(time: time, type: type, code: code, value: try fields.value()))
  }

  /// Parses a line of the header, without its indentation.
  ///
  ///     Event type 17 (EV_LED)
  ///       Event code 1 (LED_CAPSL) state 1
  @inline(never)
  private mutating func parseOther(_ line: UnsafeRawBufferPointer) throws(LineError) -> Entry? {
    var words = Fields(line)
    if let ids = Self.ids(words) { return .ids(ids, device: 0) }
    if words.skip("Event type ") {
      listedType = words.decimal()
    } else if words.skip("Event code ") {
      guard listedType == Int64(InputEvent.led),
        let code = words.decimal().flatMap(UInt16.init(exactly:)), words.skip(past: " state "),
        let report = LEDReport(number: code, value: try words.value())
      else { return nil }
      return .leds(report, device: 0)
    } else if words.skip("Input driver version is ") || words.skip("Supported events:") {
      isRecognized = true
    } else {
      // The terminal may have echoed a typed letter at the beginning of the line.
      guard line.firstOffset(of: "Event: time ") == nil else {
        throw LineError("an event that does not begin with 'Event: time'")
      }
      guard !words.hasMore || Self.otherStarts.contains(where: { words.skip($0) }) else {
        throw LineError("neither an event nor a line of evtest's header")
      }
    }
    return nil
  }

  /// The beginnings of evtest's other lines: of the header, the question for a device, the box
  /// about a grab, and the messages when the device is removed.
  private static let otherStarts: [StaticString] = [
    "Input device ID: ", "Input device name: ", "Value ", "Min ", "Max ", "Fuzz ", "Flat ",
    "Resolution ", "Key repeat handling:", "Repeat type ", "Repeat code ", "Properties:",
    "Property type ", "Testing ... (interrupt to exit)", "No device specified, trying to scan ",
    "Not running as root, ", "Available devices:", "/dev/input/event",
    "Select the device event number ", "***", "This device is grabbed by another process.",
    "No events are available to evtest while the", "other grab is active.",
    "In most cases, this is caused by an X driver,", "try VT-switching and re-run evtest again.",
    "Run the following command to see processes with", "an open fd on this device",
    "\"fuser -v ", "expected ", "evtest: ", "yyy",
  ]

  /// Parses `Input device ID: bus 0x3 vendor 0x46d product 0xc52b version 0x111`.
  private static func ids(_ header: Fields) -> HardwareIDs? {
    var fields = header
    guard fields.skip("Input device ID: bus 0x"),
      let bus: UInt16 = fields.hexadecimal(digits: 1...4), fields.skip(" vendor 0x"),
      let vendor: UInt16 = fields.hexadecimal(digits: 1...4), fields.skip(" product 0x"),
      let product: UInt16 = fields.hexadecimal(digits: 1...4)
    else { return nil }
    return HardwareIDs(bus: bus, vendor: vendor, product: product)
  }

  /// Parses the name of an `EV_SYN` event between dashes, pluses or arrows.
  private func parseSynchronization(
    _ fields: inout Fields, _ time: Time
  ) throws(LineError) -> Entry? {
    guard let decoration = fields.next() else { throw LineError("an event without a type") }
    guard "-+>".utf8.contains(decoration[0]), let name = fields.next() else {
      throw LineError("neither 'type' nor a synchronization event follows the time")
    }
    // Each of the other names ends a report in some version of evtest.
    if name.equals("SYN_MT_REPORT") { return nil }
    let code = name.equals("SYN_DROPPED") ? InputEvent.dropped : InputEvent.report
    return .event(InputEvent(time: time, type: InputEvent.synchronization, code: code, value: 0))
  }

  private func number(_ fields: inout Fields, _ what: String) throws(LineError) -> UInt16 {
    let start = fields
    guard let number = fields.decimal().flatMap(UInt16.init(exactly:)) else {
      throw start.error(what, "is not a decimal number")
    }
    return number
  }
}
