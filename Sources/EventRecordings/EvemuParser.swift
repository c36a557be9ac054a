internal import KeyboardModes

/// Reads the lines of an evemu recording, all versions of the format.
///
///     # EVEMU 1.3
///     N: AT Translated Set 2 keyboard
///     I: 0011 0001 0001 ab41
///     E: 0.000001 0001 002a 0001	# EV_KEY / KEY_LEFTSHIFT        1
///
/// Of these only the `E:` lines matter here: seconds and six digits of microseconds, type and code
/// in hexadecimal, the value in decimal. They never changed between versions. What describes the
/// device is passed over. Sources: README.md and src/evemu.c of freedesktop.org's evemu.
struct EvemuParser {
  private var warning: String?

  /// Whether anything was found that only such a recording has.
  private(set) var isRecognized = false

  /// After `SYN_DROPPED` the kernel's events make no sense until the next report begins.
  private var isSkipping = false

  /// How many characters the value of the last key event had; it tells a cut value from a short one.
  private var valueWidth = 0

  /// Reads one line.
  ///
  /// - Returns: the key event that it holds, if any.
  mutating func parse(
    _ line: UnsafeRawBufferPointer, isTerminated: Bool
  ) throws(LineFault) -> KeyEvent? {
    guard let first = line.first(where: { $0 != .space && $0 != .tab }) else { return nil }
    if first == UInt8(ascii: "#") {
      try parseComment(line)
      return nil
    }
    if isHeader(line) {
      isRecognized = true
      return nil
    }
    guard let start = eventStart(in: line) else {
      throw LineFault(
        line.starts(with: "R: ".utf8) || line.starts(with: "D: ".utf8)
          ? "a line of hid-recorder, which records no key events"
          : "neither an evemu event nor a line of its header")
    }
    return try parseEvent(Fields(line, from: start), isTerminated: isTerminated)
  }

  /// Something to tell the user of that is no error; once.
  mutating func takeWarning() -> String? {
    defer { warning = nil }
    return warning
  }

  /// `# EVEMU major.minor` stands first, where it stands at all; version 1.0 had no such line.
  private mutating func parseComment(_ line: UnsafeRawBufferPointer) throws(LineFault) {
    guard line.starts(with: "# EVEMU ".utf8) else { return }
    isRecognized = true
    var fields = Fields(line, from: 8)
    let version = fields.next().map { String(decoding: $0, as: UTF8.self) } ?? ""
    let parts = version.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let major = Int(parts[0]), let minor = Int(parts[1]) else {
      throw LineFault("evemu version \(quoted(version.utf8)) is not two numbers")
    }
    if (major, minor) > (1, 3) { warning = "evemu version \(version) is newer than 1.3" }
  }

  private func isHeader(_ line: UnsafeRawBufferPointer) -> Bool {
    guard line.count >= 2, line[1] == UInt8(ascii: ":") else { return false }
    return "NIPBALS".utf8.contains(line[0])
  }

  /// Where the fields of an event begin.
  ///
  /// What was typed into the terminal that evemu-record wrote to is echoed before the line, so the
  /// mark is searched for, not expected at the start.
  private func eventStart(in line: UnsafeRawBufferPointer) -> Int? {
    line.indices.dropLast(2).first { index in
      line[index] == UInt8(ascii: "E") && line[index + 1] == UInt8(ascii: ":")
        && (line[index + 2] == .space || line[index + 2] == .tab)
    }.map { $0 + 2 }
  }

  private mutating func parseEvent(
    _ fields: Fields, isTerminated: Bool
  ) throws(LineFault) -> KeyEvent? {
    var fields = fields
    guard let timeField = fields.next() else { throw LineFault("an event without a time") }
    let time = try time(timeField)
    guard let typeField = fields.next() else { throw LineFault("an event without a type") }
    let type = try hexadecimal(typeField, "type")
    guard let codeField = fields.next() else { throw LineFault("an event without a code") }
    let code = try hexadecimal(codeField, "code")
    guard let valueField = fields.next(orEndAt: UInt8(ascii: "#")) else {
      throw LineFault("an event without a value")
    }
    guard let value = Int32(ascii: valueField) else {
      throw LineFault("event value \(quoted(valueField)) is not a decimal number")
    }
    if type == EventType.key {
      if !isTerminated, !fields.hasMore, valueField.count < valueWidth {
        throw LineFault("the value of the event is cut off")
      }
      valueWidth = valueField.count
    }
    isRecognized = true
    return try event(time, type: type, code: code, value: value)
  }

  private mutating func event(
    _ time: Time, type: UInt16, code: UInt16, value: Int32
  ) throws(LineFault) -> KeyEvent? {
    switch (type, code) {
    case (EventType.synchronization, EventType.dropped):
      isSkipping = true
      return nil
    case (EventType.synchronization, EventType.report):
      isSkipping = false
      return nil
    case (EventType.key, _):
      guard let key = KeyCode(code) else {
        throw LineFault("key code \(code) is above \(KeyCode.max)")
      }
      guard let action = KeyEvent.Action(rawValue: value) else {
        throw LineFault("key value \(value) is not 0, 1 or 2")
      }
      return isSkipping ? nil : KeyEvent(time: time, key: key, action: action)
    default: return nil
    }
  }

  private func time(_ field: UnsafeRawBufferPointer) throws(LineFault) -> Time {
    guard let point = field.firstIndex(of: UInt8(ascii: ".")),
      let seconds = Int64(digits: UnsafeRawBufferPointer(rebasing: field[..<point])),
      let fraction = Int64(digits: UnsafeRawBufferPointer(rebasing: field[(point + 1)...]))
    else { throw LineFault("event time \(quoted(field)) is not SECONDS.MICROSECONDS") }
    // evemu itself reads 1.5 as five microseconds, a person as half a second.
    guard field.count - point - 1 == 6 else {
      throw LineFault("event time \(quoted(field)) does not have six digits after the point")
    }
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    let (microseconds, carry) = whole.addingReportingOverflow(fraction)
    guard !overflow, !carry else { throw LineFault("event time \(quoted(field)) is too large") }
    return Time(microseconds: microseconds)
  }

  private func hexadecimal(
    _ field: UnsafeRawBufferPointer, _ what: String
  ) throws(LineFault) -> UInt16 {
    guard let number = UInt16(hexadecimal: field) else {
      throw LineFault("event \(what) \(quoted(field)) is not hexadecimal of up to four digits")
    }
    return number
  }

  private func quoted(_ text: some Collection<UInt8>) -> String {
    let shown = text.prefix(24).map { 0x20..<0x7f ~= $0 ? Character(Unicode.Scalar($0)) : "?" }
    return "\"\(String(shown))\(text.count > 24 ? "…" : "")\""
  }
}

/// The numbers of `linux/input-event-codes.h` that matter in any recording.
enum EventType {
  static let synchronization: UInt16 = 0
  static let key: UInt16 = 1
  static let report: UInt16 = 0
  static let dropped: UInt16 = 3
}
