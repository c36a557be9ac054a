import KeyboardModes
import Keyboards

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
  private(set) var isRecognized = false

  /// The paths of the present devices, and their numbers in the order of their first events.
  private var devices: [(path: [UInt8], number: Int)] = []

  /// The number of all devices so far, also of removed ones.
  private var count = 0

  private var keyNames = KeyNames()

  /// The kernel allows no more event devices at a time; a text with more names is not a recording.
  private static let mostDevices = 1024

  mutating func parse(
    _ line: UnsafeRawBufferPointer, isComplete: Bool
  ) throws(LineFault) -> Entry? {
    if line.begins(with: "add device ") { isRecognized = true }
    if line.begins(with: "remove device ") { return remove(Fields(line, from: 14)) }
    var fields = Fields(line)
    let time = try time(&fields)
    let device = try device(&fields)
    guard let typeField = fields.next(), let codeField = fields.next(),
      let valueField = fields.next(), let type = type(typeField)
    else {
      // Between events there are descriptions of devices.
      guard time == nil, !hasEvent(line), isComplete || line.first?.decimalDigit == nil else {
        throw LineFault("neither an event nor a line about a device")
      }
      return nil
    }
    // Output without -t is recognized, so that the error can say that the times are missing.
    isRecognized = isRecognized || time != nil || line.begins(with: "/dev/input/event")
    guard let time else { throw LineFault("an event without a time: getevent needs -t") }
    guard type == InputEvent.key || type == InputEvent.synchronization else { return nil }
    guard let code = code(codeField, type) else {
      // Android has names of its own, but not for keys that matter here.
      if codeField.begins(with: "KEY_") || codeField.begins(with: "BTN_") { return nil }
      throw LineFault("unknown event code \(quoted(codeField))")
    }
    guard let value = value(valueField) else {
      throw LineFault("unknown event value \(quoted(valueField))")
    }
    if let more = fields.next(), !more.equals("rate") {
      throw LineFault("unexpected \(quoted(more)) after the event")
    }
    return .event(InputEvent(time: time, type: type, code: code, value: value, device: device))
  }

  /// Parses `[    1234.567890]`, or `1234-567890:` without leading zeros of the microseconds.
  private func time(_ fields: inout Fields) throws(LineFault) -> Time? {
    if fields.skip("[") {
      guard let inside = fields.next(upTo: UInt8(ascii: "]")) else {
        throw LineFault("the time has no closing ']'")
      }
      return try Time(field: inside)
    }
    var rest = fields
    guard let first = rest.next(), first.last == UInt8(ascii: ":"),
      let dash = first.firstIndex(of: UInt8(ascii: "-")),
      let seconds = Int64(digits: UnsafeRawBufferPointer(rebasing: first[..<dash])),
      let fraction = Int64(
        digits: UnsafeRawBufferPointer(rebasing: first[(dash + 1)..<(first.count - 1)])),
      fraction < 1_000_000
    else { return nil }
    fields = rest
    return try Time(seconds: seconds, microseconds: fraction)
  }

  /// The number of the device `/dev/input/event2:`; 0 if the line has no path.
  private mutating func device(_ fields: inout Fields) throws(LineFault) -> Int {
    var rest = fields
    guard let path = rest.next(), path.first == UInt8(ascii: "/"), path.last == UInt8(ascii: ":")
    else { return 0 }
    fields = rest
    let name = UnsafeRawBufferPointer(rebasing: path.dropLast())
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
    var fields = Fields(line)
    var (first, second) = (fields.next(), fields.next())
    while let third = fields.next() {
      if let first, type(first) != nil, value(third) != nil { return true }
      (first, second) = (second, third)
    }
    return false
  }

  private func type(_ field: UnsafeRawBufferPointer) -> UInt16? {
    if field.equals("EV_KEY") { return InputEvent.key }
    if field.equals("EV_SYN") { return InputEvent.synchronization }
    // Events of other types are ignored.
    if field.begins(with: "EV_") { return .max }
    return field.count == 4 ? UInt16(hexadecimal: field) : nil
  }

  private mutating func code(_ field: UnsafeRawBufferPointer, _ type: UInt16) -> UInt16? {
    if field.count == 4, let number = UInt16(hexadecimal: field) { return number }
    if type == InputEvent.key { return keyNames.code(of: field) }
    if field.equals("SYN_REPORT") { return InputEvent.report }
    if field.equals("SYN_DROPPED") { return InputEvent.dropped }
    return field.begins(with: "SYN_") ? .max : nil
  }

  private func value(_ field: UnsafeRawBufferPointer) -> Int32? {
    if field.equals("UP") { return 0 }
    if field.equals("DOWN") { return 1 }
    if field.equals("REPEAT") { return 2 }
    guard field.count == 8 else { return nil }
    return UInt32(hexadecimal: field).map { Int32(bitPattern: $0) }
  }
}

/// The codes of the keys whose names have been looked up, which takes long.
private struct KeyNames {
  /// A name and its code at the index that is the hash of the name.
  private var known: [(name: [UInt8], code: UInt16?)] = []

  /// The code of the key with this name; `nil` if libevdev does not know it.
  mutating func code(of name: UnsafeRawBufferPointer) -> UInt16? {
    let hash = name.reduce(UInt8(0)) { $0 &* 31 &+ $1 }
    if known.isEmpty { known = Array(repeating: ([], nil), count: 256) }
    let (knownName, knownCode) = known[Int(hash)]
    if knownName.elementsEqual(name) { return knownCode }
    let code = KeyCode(name: String(decoding: name, as: UTF8.self))?.number
    known[Int(hash)] = (Array(name), code)
    return code
  }
}
