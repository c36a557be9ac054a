import KeyboardModes
import Keyboards

/// Parses the output of Android's getevent, with `-t`, and with or without `-l`.
///
///     add device 1: /dev/input/event2
///       name:     "gpio-keys"
///     [    1234.567890] /dev/input/event2: 0001 002a 00000001
///     [    1234.567890] /dev/input/event2: EV_KEY       KEY_LEFTSHIFT        DOWN
///
/// Numbers are hexadecimal, values in two's complement. The path of the device is missing if
/// getevent reads only one device. Source: toolbox/getevent.c of the Android Open Source Project.
struct GeteventParser: EntryParser {
  private(set) var isRecognized = false

  /// The paths of the present devices, and their numbers in the order of their first events.
  private var devices: [(path: [UInt8], number: Int)] = []

  /// The number of all devices so far, also of removed ones.
  private var count = 0

  /// The path of the last event's device, with the colon, and its number.
  private var last: (path: [UInt8], number: Int) = ([], 0)

  /// The codes of keys by their names, as found so far: libevdev takes long to look one up.
  private var codes: [String: UInt16] = [:]

  /// The most devices, removed ones included. The kernel has at most so many at a time.
  private static let mostDevices = 1024

  mutating func parse(_ line: UnsafeRawBufferPointer) throws(LineFault) -> Entry? {
    var fields = Fields(line)
    let time = try time(&fields)
    let device = try device(&fields)
    guard let time else { return try parseOther(line, fields) }
    guard let type = type(&fields) else { throw Self.unknown }
    isRecognized = true
    guard type == InputEvent.key || type == InputEvent.led || type == InputEvent.synchronization
    else {
      guard fields.next() != nil, fields.next() != nil else { throw Self.unknown }
      return nil
    }
    guard let code = try code(&fields, type) else {
      // A key that only Android names does not matter here, and neither does an LED of no lock.
      guard fields.next() != nil else { throw Self.unknown }
      return nil
    }
    var valueField = fields
    guard let value = value(&fields) else {
      guard let field = valueField.next() else { throw Self.unknown }
      throw LineFault("unknown event value \(quoted(field))")
    }
    if let more = fields.next(), !more.equals("rate") {
      throw LineFault("unexpected \(quoted(more)) after the event")
    }
    return .event(InputEvent(time: time, type: type, code: code, value: value, device: device))
  }

  /// Parses a line without a time. `fields` has what follows the path of a device.
  private mutating func parseOther(
    _ line: UnsafeRawBufferPointer, _ fields: Fields
  ) throws(LineFault) -> Entry? {
    if line.begins(with: "add device ") { isRecognized = true }
    if line.begins(with: "remove device ") { return remove(Fields(line, from: 14)) }
    var event = fields
    if type(&event) != nil, event.next() != nil, event.next() != nil {
      // Output without -t is recognized, so that the error can say that the times are missing.
      isRecognized = isRecognized || line.begins(with: "/dev/input/event")
      throw LineFault("an event without a time: getevent needs -t")
    }
    // This line is either a damaged event or a part of the description of a device.
    guard line.firstOffset(of: "] /dev/input/event") == nil else { throw Self.unknown }
    return nil
  }

  private static let unknown = LineFault("neither an event nor a line about a device")

  /// Parses `[    1234.567890]`; `nil` if the line begins otherwise.
  @inline(__always)
  private func time(_ fields: inout Fields) throws(LineFault) -> Time? {
    guard fields.skip(UInt8(ascii: "[")) else { return nil }
    let time = try fields.time()
    guard fields.skip(.bracket) else { throw LineFault("the time has no closing ']'") }
    return time
  }

  /// The number of the device `/dev/input/event2:`; 0 if the line has no path.
  @inline(__always)
  private mutating func device(_ fields: inout Fields) throws(LineFault) -> Int {
    if !last.path.isEmpty, fields.skip(field: last.path) { return last.number }
    var rest = fields
    guard let path = rest.next(), path.first == UInt8(ascii: "/"), path.last == UInt8(ascii: ":")
    else { return 0 }
    fields = rest
    let name = UnsafeRawBufferPointer(rebasing: path.dropLast())
    let known = devices.first { name.elementsEqual($0.path) }?.number
    if known == nil {
      guard count < Self.mostDevices else {
        throw LineFault("more than \(Self.mostDevices) devices")
      }
      devices.append((Array(name), count))
      count += 1
    }
    last = (Array(path), known ?? count - 1)
    return last.number
  }

  /// Parses `remove device 5: /dev/input/event5`. Another device may get the path later.
  private mutating func remove(_ line: Fields) -> Entry? {
    var fields = line
    guard fields.next() != nil, let path = fields.next(),
      let index = devices.firstIndex(where: { $0.path.elementsEqual(path) })
    else { return nil }
    last.path = []
    return .gone(device: devices.remove(at: index).number, at: nil)
  }

  @inline(__always)
  private func type(_ fields: inout Fields) -> UInt16? {
    if let number: UInt16 = fields.hexadecimal(digits: 4...4) { return number }
    guard let name = fields.next() else { return nil }
    if name.equals("EV_KEY") { return InputEvent.key }
    if name.equals("EV_SYN") { return InputEvent.synchronization }
    if name.equals("EV_LED") { return InputEvent.led }
    // `.max` stands for any other type; its events are ignored.
    return name.begins(with: "EV_") ? .max : nil
  }

  /// The code of an event; `nil` if its key has a name that only Android knows, or if it is an LED
  /// of no lock.
  private mutating func code(_ fields: inout Fields, _ type: UInt16) throws(LineFault) -> UInt16? {
    if let number: UInt16 = fields.hexadecimal(digits: 4...4) { return number }
    guard let name = fields.next() else { throw Self.unknown }
    if type == InputEvent.key {
      let key = String(decoding: name, as: UTF8.self)
      if let code = codes[key] { return code }
      if let code = KeyCode(name: key)?.number {
        codes[key] = code
        return code
      }
      if name.begins(with: "KEY_") || name.begins(with: "BTN_") { return nil }
    } else if type == InputEvent.led {
      if name.equals("LED_NUML") { return 0 }
      if name.equals("LED_CAPSL") { return 1 }
      if name.begins(with: "LED_") { return nil }
    } else {
      if name.equals("SYN_REPORT") { return InputEvent.report }
      if name.equals("SYN_DROPPED") { return InputEvent.dropped }
      if name.begins(with: "SYN_") { return .max }
    }
    throw LineFault("unknown event code \(quoted(name))")
  }

  @inline(__always)
  private func value(_ fields: inout Fields) -> Int32? {
    if let number: UInt32 = fields.hexadecimal(digits: 8...8) { return Int32(bitPattern: number) }
    guard let name = fields.next() else { return nil }
    if name.equals("UP") { return 0 }
    if name.equals("DOWN") { return 1 }
    return name.equals("REPEAT") ? 2 : nil
  }
}
