import Evdev
import KeyboardModes

/// Parses the output of Android's getevent, with `-t`, and with or without `-l`.
///
///     add device 1: /dev/input/event2
///       name:     "gpio-keys"
///     [    1234.567890] /dev/input/event2: 0001 002a 00000001
///     [    1234.567890] /dev/input/event2: EV_KEY       KEY_LEFTSHIFT        DOWN
///     1234-567890: /dev/input/event2: 0001 002a 00000001
///
/// Numbers are hexadecimal, values in two's complement. The path of the device is missing if
/// getevent reads only one device. Old versions write the time with a dash, and its microseconds
/// without leading zeros. Source: toolbox/getevent.c of the Android Open Source Project.
struct GeteventParser: EntryParser {
  static func claims(_ line: UnsafeRawBufferPointer) -> Bool {
    // Only these can be lines of this format. The lines of others are not parsed for nothing.
    guard let first = line.first(where: { $0 != .space && $0 != .tab }),
      first.decimalDigit != nil || "[/a".utf8.contains(first)
    else { return false }
    // Output without -t is recognized, so that the error can say that the times are missing.
    return line.starts(with: "/dev/input/event".utf8) || GeteventParser().recognizes(line)
  }

  var isRecognized = false

  /// The paths of the present devices, and their numbers in the order of their first events.
  private(set) var devices: [(path: [UInt8], number: Int)] = []

  /// For the fast path.
  var keyLabels = KeyLabels()

  /// The number of all devices so far, also of removed ones.
  private var count = 0

  /// The kernel allows no more event devices at a time; a text with more names is not a recording.
  private static let mostDevices = 1024

  mutating func parse(
    _ line: UnsafeRawBufferPointer, isTerminated: Bool
  ) throws(LineFault) -> Entry? {
    if line.starts(with: "add device ".utf8) { isRecognized = true }
    if line.starts(with: "remove device ".utf8) { return remove(Fields(line, from: 14)) }
    var fields = Fields(line, from: 0)
    let time = try time(&fields)
    let device = try device(&fields)
    guard let typeField = fields.next(), let codeField = fields.next(),
      let valueField = fields.next(), let type = type(typeField)
    else {
      // Between events there are descriptions of devices.
      guard time == nil, !hasEvent(line), isTerminated || line.first?.decimalDigit == nil else {
        throw LineFault("neither an event nor a line about a device")
      }
      return nil
    }
    guard let time else { throw LineFault("an event without a time: getevent needs -t") }
    isRecognized = true
    guard type == InputEvent.key || type == InputEvent.synchronization else { return nil }
    guard let code = code(codeField, type) else {
      // Android has names of its own, but not for keys that matter here.
      if codeField.starts(with: "KEY_".utf8) || codeField.starts(with: "BTN_".utf8) { return nil }
      throw LineFault("unknown event code \(quoted(codeField))")
    }
    guard let value = value(valueField) else {
      throw LineFault("unknown event value \(quoted(valueField))")
    }
    if let more = fields.next(), !more.elementsEqual("rate".utf8) {
      throw LineFault("unexpected \(quoted(more)) after the event")
    }
    return .event(InputEvent(time: time, type: type, code: code, value: value, device: device))
  }

  /// Parses `[    1234.567890]`, or `1234-567890:` without leading zeros of the microseconds.
  private func time(_ fields: inout Fields) throws(LineFault) -> Time? {
    let start = fields
    guard let first = fields.next() else { return nil }
    if first[0] == UInt8(ascii: "[") {
      fields = start
      guard let inside = fields.next(between: UInt8(ascii: "["), and: UInt8(ascii: "]")) else {
        throw LineFault("the time has no closing ']'")
      }
      return try Time(field: inside)
    }
    guard first.last == UInt8(ascii: ":"), let dash = first.firstIndex(of: UInt8(ascii: "-")),
      let seconds = Int64(digits: UnsafeRawBufferPointer(rebasing: first[..<dash])),
      let fraction = Int64(
        digits: UnsafeRawBufferPointer(rebasing: first[(dash + 1)..<(first.count - 1)])),
      fraction < 1_000_000, seconds < Int64.max / 1_000_000
    else {
      fields = start
      return nil
    }
    return Time(microseconds: seconds * 1_000_000 + fraction)
  }

  /// The number of the device `/dev/input/event2:`; 0 if the line has no path.
  private mutating func device(_ fields: inout Fields) throws(LineFault) -> Int {
    var rest = fields
    guard let path = rest.next(), path.first == UInt8(ascii: "/"), path.last == UInt8(ascii: ":")
    else { return 0 }
    fields = rest
    let name = path.dropLast()
    if let known = devices.first(where: { $0.path.elementsEqual(name) }) { return known.number }
    guard count < Self.mostDevices else {
      throw LineFault("more than \(Self.mostDevices) devices")
    }
    devices.append((Array(name), count))
    count += 1
    return count - 1
  }

  /// Parses `remove device 5: /dev/input/event5`. Another device may get the path later.
  private mutating func remove(_ fields: consuming Fields) -> Entry? {
    guard fields.next() != nil, let path = fields.next(),
      let index = devices.firstIndex(where: { $0.path.elementsEqual(path) })
    else { return nil }
    return .gone(device: devices.remove(at: index).number, at: nil)
  }

  /// Whether the line has an event behind a damaged beginning.
  private func hasEvent(_ line: UnsafeRawBufferPointer) -> Bool {
    var fields = Fields(line, from: 0)
    var last: [UnsafeRawBufferPointer] = []
    while let field = fields.next() {
      last = last.suffix(2) + [field]
      if last.count == 3, type(last[0]) != nil, value(last[2]) != nil { return true }
    }
    return false
  }

  private func type(_ field: UnsafeRawBufferPointer) -> UInt16? {
    if field.elementsEqual("EV_KEY".utf8) { return InputEvent.key }
    if field.elementsEqual("EV_SYN".utf8) { return InputEvent.synchronization }
    // Events of other types are ignored.
    if field.starts(with: "EV_".utf8) { return .max }
    return field.count == 4 ? UInt16(hexadecimal: field) : nil
  }

  private func code(_ field: UnsafeRawBufferPointer, _ type: UInt16) -> UInt16? {
    if let number = UInt16(hexadecimal: field), field.count == 4 { return number }
    if type == InputEvent.key {
      return KeyCode(name: String(decoding: field, as: UTF8.self))?.number
    }
    if field.elementsEqual("SYN_REPORT".utf8) { return InputEvent.report }
    if field.elementsEqual("SYN_DROPPED".utf8) { return InputEvent.dropped }
    return field.starts(with: "SYN_".utf8) ? .max : nil
  }

  private func value(_ field: UnsafeRawBufferPointer) -> Int32? {
    switch String(decoding: field, as: UTF8.self) {
    case "UP": 0
    case "DOWN": 1
    case "REPEAT": 2
    case let text where text.count == 8: UInt32(text, radix: 16).map { Int32(bitPattern: $0) }
    default: nil
    }
  }
}
