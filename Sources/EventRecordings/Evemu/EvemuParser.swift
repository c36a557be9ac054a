import KeyboardModes

/// Parses the lines of an evemu recording, in all versions of the format.
///
///     # EVEMU 1.3
///     N: AT Translated Set 2 keyboard
///     I: 0011 0001 0001 ab41
///     E: 0.000001 0001 002a 0001	# EV_KEY / KEY_LEFTSHIFT        1
///
/// Only the `E:` lines matter here: seconds and six digits of microseconds, type and code in
/// hexadecimal, the value in decimal. They are the same in all versions. The description of the
/// device is skipped. Sources: README.md and src/evemu.c of freedesktop.org's evemu.
struct EvemuParser: EntryParser {
  var isRecognized = false

  /// Whether the last line was the `# DMI:` comment or went on with it. Mail programs wrap it,
  /// because it is one long word.
  var isInModalias = false

  /// The length of the last key event's value, by which a value that was cut off can be recognized.
  var valueWidth = 0

  mutating func parse(
    _ line: UnsafeRawBufferPointer, isTerminated: Bool
  ) throws(LineFault) -> Entry? {
    guard let spaced = line.replacingNoBreakSpaces() else {
      return try parseText(line, isTerminated: isTerminated)
    }
    let result = spaced.withUnsafeBytes { text in
      Result { () throws(LineFault) in try parseText(text, isTerminated: isTerminated) }
    }
    return try result.get()
  }

  private mutating func parseText(
    _ line: UnsafeRawBufferPointer, isTerminated: Bool
  ) throws(LineFault) -> Entry? {
    let wasInModalias = isInModalias
    isInModalias = false
    // One letter before an event was echoed by the terminal, even if it looks like a header or
    // comment.
    let isHeader = isHeader(line)
    if let mark = (0...(isHeader ? 2 : 1)).first(where: { isEventMark(line, at: $0) }) {
      return try parseEvent(Fields(line, from: mark + 2), isTerminated: isTerminated)
    }
    guard let first = line.first(where: { $0 != .space && $0 != .tab }) else { return nil }
    if first == UInt8(ascii: "#") { return try parseComment(line) }
    if isHeader {
      try checkHeader(line)
      return nil
    }
    // The terminal may have echoed typed text before the mark of an event.
    if let mark = line.indices.dropLast(2).first(where: { isEventMark(line, at: $0) }) {
      return try parseEvent(Fields(line, from: mark + 2), isTerminated: isTerminated)
    }
    isInModalias = wasInModalias && line.contains(UInt8(ascii: ":"))
    guard !isInModalias else { return nil }
    throw LineFault(
      line.starts(with: "R: ".utf8) || line.starts(with: "D: ".utf8)
        ? "a line of hid-recorder, which records no key events"
        : "neither an evemu event nor a header line")
  }

  private mutating func parseComment(_ line: UnsafeRawBufferPointer) throws(LineFault) -> Entry? {
    isInModalias = line.starts(with: "# DMI:".utf8) || line.starts(with: "# dmi:".utf8)
    if line.starts(with: "# EVEMU ".utf8) { return try parseVersion(line) }
    guard line.starts(with: Note.mark.utf8) else { return nil }
    return try parseNote(Fields(line, from: Note.mark.utf8.count))
  }

  /// Parses a note of `keymodectl record`. Unknown ones, of a later version, are ignored.
  private func parseNote(_ fields: consuming Fields) throws(LineFault) -> Entry? {
    guard let word = fields.next() else { return nil }
    if word.elementsEqual(Note.lost.utf8) { return .lost(device: 0) }
    if word.elementsEqual(Note.gone.utf8) {
      // Version 0.1.0 wrote no time.
      return .gone(
        device: 0,
        at: try fields.next().map { field throws(LineFault) in
          try Time(field: field)
        })
    }
    guard word.elementsEqual(Note.held.utf8) else { return nil }
    var keys: [KeyCode] = []
    while let field = fields.next() {
      guard let key = KeyCode(try hexadecimal(field, "code")) else {
        throw LineFault("key code \(quoted(field)) is above \(String(KeyCode.max, radix: 16))")
      }
      guard keys.count <= KeyCode.max else {
        throw LineFault("the list of held keys has more keys than exist")
      }
      keys.append(key)
    }
    return .held(keys, device: 0)
  }

  /// Parses `# EVEMU major.minor`, the first line since version 1.1.
  private mutating func parseVersion(_ line: UnsafeRawBufferPointer) throws(LineFault) -> Entry? {
    let wasRecognized = isRecognized
    isRecognized = true
    var fields = Fields(line, from: 8)
    let version = fields.next().map { String(decoding: $0, as: UTF8.self) } ?? ""
    let parts = version.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let major = Int(parts[0]), let minor = Int(parts[1]) else {
      throw LineFault("evemu version \(quoted(version.utf8)) is not two numbers")
    }
    guard !wasRecognized, (major, minor) > (1, 3) else { return nil }
    return .warning("evemu version \(version) is newer than 1.3; reading it as 1.3")
  }

  private func isHeader(_ line: UnsafeRawBufferPointer) -> Bool {
    guard line.count >= 2, line[1] == UInt8(ascii: ":") else { return false }
    return "NIPBALS".utf8.contains(line[0])
  }

  /// Skips a line of the description, unless it is an event whose first letter is damaged.
  private mutating func checkHeader(_ line: UnsafeRawBufferPointer) throws(LineFault) {
    var fields = Fields(line, from: 2)
    let first = fields.next(orEndAt: UInt8(ascii: "#"))
    let isName = line[0] == UInt8(ascii: "N")
    guard isName || first?.contains(UInt8(ascii: ".")) != true else {
      throw LineFault("neither an evemu event nor a header line")
    }
    // /proc/bus/input/devices has lines with the same letters, but with words in them.
    let isNumber = first.flatMap(UInt16.init(hexadecimal:)) != nil
    isRecognized = isRecognized || isName || isNumber
  }

  private func isEventMark(_ line: UnsafeRawBufferPointer, at index: Int) -> Bool {
    line.count > index + 2 && line[index] == UInt8(ascii: "E")
      && line[index + 1] == UInt8(ascii: ":")
      && (line[index + 2] == .space || line[index + 2] == .tab)
  }

  private mutating func parseEvent(
    _ fields: consuming Fields, isTerminated: Bool
  ) throws(LineFault) -> Entry? {
    let time = try Time(field: fields.next("time"))
    let type = try hexadecimal(fields.next("type"), "type")
    let code = try hexadecimal(fields.next("code"), "code")
    let valueField = try fields.next("value", orEndAt: UInt8(ascii: "#"))
    guard let value = Int32(ascii: valueField) else {
      throw LineFault("event value \(quoted(valueField)) is not a decimal number")
    }
    if type == InputEvent.key {
      if !isTerminated, !fields.hasMore, valueField.count < valueWidth {
        throw LineFault("the value of the event is cut off")
      }
      valueWidth = valueField.count
    }
    isRecognized = true
    return .event(InputEvent(time: time, type: type, code: code, value: value))
  }

  private func hexadecimal(
    _ field: UnsafeRawBufferPointer, _ what: String
  ) throws(LineFault) -> UInt16 {
    guard let number = UInt16(hexadecimal: field) else {
      throw LineFault("event \(what) \(quoted(field)) is not hexadecimal of up to four digits")
    }
    return number
  }
}
