import KeyboardModes

/// Parses the lines of an evemu recording, in all versions of the format.
///
///     # EVEMU 1.3
///     N: AT Translated Set 2 keyboard
///     I: 0011 0001 0001 ab41
///     L: 01 1
///     E: 0.000001 0001 002a 0001	# EV_KEY / KEY_LEFTSHIFT        1
///
/// The `E:` lines are the events: seconds and six digits of microseconds, type and code in
/// hexadecimal, the value in decimal. They are the same in all versions. In the description of the
/// device, two kinds of lines matter: `I:` has its ids; `L:` has the number of an LED in
/// hexadecimal, and whether the LED was on. Sources: README.md and src/evemu.c of freedesktop.org's
/// evemu.
struct EvemuParser: EntryParser {
  private(set) var isRecognized = false

  mutating func parse(_ line: UnsafeRawBufferPointer) throws(LineError) -> Entry? {
    let line = line.withoutIndentation
    if line.begins(with: "E: ") {
      return try parseEvent(Fields(line, from: 3))
    }
    if line.first == UInt8(ascii: "#") {
      if line.begins(with: "# EVEMU ") { isRecognized = true }
      return nil
    }
    if line.count >= 2, line[1] == UInt8(ascii: ":"), "NIPBALS".utf8.contains(line[0]) {
      return try parseHeader(line)
    }
    guard line.isEmpty else { throw LineError("neither an evemu event nor a header line") }
    return nil
  }

  private mutating func parseEvent(_ event: Fields) throws(LineError) -> Entry? {
    var fields = event
    // Only evemu's lines begin with `E: ` and a digit.
    if fields.hasDigit { isRecognized = true }
    let time = try fields.time()
    let type = try hexadecimal(&fields, "type")
    let code = try hexadecimal(&fields, "code")
    let value = try fields.value()
    return .event(InputEvent(time: time, type: type, code: code, value: value))
  }

  /// Parses a line of the description. Throws at other lines, such as events with a wrong letter.
  private mutating func parseHeader(_ line: UnsafeRawBufferPointer) throws(LineError) -> Entry? {
    var fields = Fields(line, from: 2)
    let number: UInt16? = fields.hexadecimal(digits: 1...4)
    let letter = Character(Unicode.Scalar(line[0]))
    // The letter alone is not enough: /proc/bus/input/devices has lines such as `I: Bus=0011`.
    guard letter == "N" || number != nil else {
      throw LineError("neither an evemu event nor a header line")
    }
    isRecognized = true
    switch (letter, number) {
    case ("L", let led?):
      return LEDReport(number: led, value: try fields.value()).map { .leds($0, device: 0) }
    case ("I", let bus?):
      guard let vendor: UInt16 = fields.hexadecimal(digits: 1...4),
        let product: UInt16 = fields.hexadecimal(digits: 1...4)
      else { return nil }
      return .ids(HardwareIDs(bus: bus, vendor: vendor, product: product), device: 0)
    default: return nil
    }
  }

  private func hexadecimal(
    _ fields: inout Fields, _ name: String
  ) throws(LineError) -> UInt16 {
    if let number: UInt16 = fields.hexadecimal(digits: 1...4) { return number }
    throw fields.error(name, "is not hexadecimal of up to four digits")
  }
}
