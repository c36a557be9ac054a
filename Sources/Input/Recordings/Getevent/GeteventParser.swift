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
/// getevent reads only one device. Android before 4.1 wrote lines like the last one. Skips the
/// descriptions of devices. Source: toolbox/getevent.c of the Android Open Source Project.
struct GeteventParser: EntryParser {
  private(set) var isRecognized = false

  /// The path and number of each present device. The numbers are in the order of first events.
  private var devices: [(path: [UInt8], number: Int)] = []

  /// The number of devices that had events so far, removed devices included.
  private var deviceCount = 0

  /// The device of the last event: its path, with the colon, and its number.
  private var lastDevice: (path: [UInt8], number: Int) = ([], 0)

  /// A cache of key codes and their names, because libevdev is slower; ``code(_:_:)`` computes the
  /// index.
  private var codes = [(name: [UInt8], code: UInt16)](repeating: ([], 0), count: 256)

  /// The kind of the last lines: events, the description of a device with lists of codes, or a HID
  /// descriptor. A HID descriptor may be any text.
  private var section = Section.events

  private enum Section { case events, description, hidDescriptor }

  /// The maximum number of devices, removed devices included. The kernel has at most this many at a
  /// time.
  private static let maxDevices = 1024

  mutating func parse(_ line: UnsafeRawBufferPointer) throws(LineError) -> Entry? {
    var fields = Fields(line.withoutIndentation)
    let time = try fields.skip(UInt8(ascii: "[")) ? time(&fields) : oldTime(&fields)
    let device = try device(&fields)
    guard let time else { return try parseOther(line, fields) }
    guard let type = type(&fields) else { throw Self.unknownLine }
    isRecognized = true
    if section != .events { section = .events }
    guard type == InputEvent.key || type == InputEvent.led || type == InputEvent.synchronization
    else {
      guard fields.next() != nil, fields.next() != nil else { throw Self.unknownLine }
      return nil
    }
    guard let code = try code(&fields, type) else {
      // Keys that only Android names, and LEDs that belong to no lock, do not matter here.
      guard fields.next() != nil else { throw Self.unknownLine }
      return nil
    }
    var valueField = fields
    guard let value = value(&fields) else {
      guard let field = valueField.next() else { throw Self.unknownLine }
      throw LineError("unknown event value \(quoted(field))")
    }
    if let more = fields.next(), !more.equals("rate") {
      throw LineError("unexpected \(quoted(more)) after the event")
    }
    return .event(InputEvent(time: time, type: type, code: code, value: value, device: device))
  }

  /// Parses a line without a time. `fields` begins after the path of a device, if the line has one.
  @inline(never)
  private mutating func parseOther(
    _ line: UnsafeRawBufferPointer, _ fields: Fields
  ) throws(LineError) -> Entry? {
    var words = Fields(line.withoutIndentation)
    if words.skip("remove device ") { return remove(words) }
    isRecognized = isRecognized || line.begins(with: "add device ")
    if words.skip("HID descriptor: ") {
      section = .hidDescriptor
    } else if Self.descriptionStarts.contains(where: { words.skip($0) }) {
      section = .description
    } else if isEvent(fields) {
      // Output without -t is recognized, so that the error can say that the times are missing.
      isRecognized = isRecognized || line.begins(with: "/dev/input/event")
      throw LineError("an event without a time: getevent needs -t")
    } else {
      guard
        !words.hasMore || section == .hidDescriptor && line.withoutIndentation.count < line.count
          || section == .description && Self.isList(words)
      else { throw Self.unknownLine }
    }
    return nil
  }

  /// How the lines of a device's description and the messages of getevent begin.
  private static let descriptionStarts: [StaticString] = [
    "add device ", "bus: ", "vendor ", "product ", "version ", "version: ", "name: ", "location: ",
    "id: ", "events:", "input props:", "could not ", "scan dir failed for ",
    "Can't enable monotonic clock reporting", "remote device: ",
  ]

  /// Whether these fields are the type, code and value of an event.
  private func isEvent(_ line: Fields) -> Bool {
    var fields = line
    fields.skipSpace()
    var name = fields
    let isNamed = name.skip("EV_")
    guard type(&fields) != nil, fields.next() != nil else { return false }
    let value: UInt32? = fields.hexadecimal(digits: 8...8)
    return value != nil || isNamed && fields.next() != nil
  }

  /// Whether these fields list codes or properties of a device. The name of a type may come first.
  /// A `*` marks a key that is down.
  ///
  ///     KEY (0001): 0001  002a* 003a
  ///     ABS (0003): ABS_X                 : value 0, min 0, max 1439, fuzz 0, flat 0, resolution 0
  ///     <none>
  private static func isList(_ line: Fields) -> Bool {
    var fields = line
    var heading = line
    if heading.next() != nil, heading.next()?.first == UInt8(ascii: "(") { fields = heading }
    while let field = fields.next() {
      if field.equals(":") { return fields.next()?.equals("value") == true }
      if field.equals("<none>") || field.equals("<not") { return true }
      let isDown = field.last == UInt8(ascii: "*")
      let code = UnsafeRawBufferPointer(rebasing: field.dropLast(isDown ? 1 : 0))
      var number = Fields(code)
      let isNumber = (number.hexadecimal(digits: 4...4) as UInt16?) != nil
      let isName = code.contains(UInt8(ascii: "_")) && code.allSatisfy(\.isOfCodeName)
      guard isNumber || isName, !code.begins(with: "EV_") else { return false }
    }
    return true
  }

  private static let unknownLine = LineError("neither an event nor a line about a device")

  /// Parses the rest of `[    1234.567890]`.
  @inline(__always)
  private func time(_ fields: inout Fields) throws(LineError) -> Time {
    let time = try fields.time()
    guard fields.skip(.closingBracket) else { throw LineError("the time has no closing ']'") }
    return time
  }

  /// Parses `1234-5:`, 5 µs after 1234 s; `nil` if the line begins otherwise.
  @inline(never)
  private func oldTime(_ fields: inout Fields) throws(LineError) -> Time? {
    var rest = fields
    guard let seconds = rest.digits(), rest.skip(UInt8(ascii: "-")) else { return nil }
    guard let microseconds = rest.digits(), rest.skip(UInt8(ascii: ":")) else {
      throw fields.error("time", "is not SECONDS-MICROSECONDS:")
    }
    fields = rest
    return try Time(seconds: seconds, microseconds: microseconds)
  }

  /// The number of the device `/dev/input/event2:`; 0 if the line has no path.
  @inline(__always)
  private mutating func device(_ fields: inout Fields) throws(LineError) -> Int {
    if !lastDevice.path.isEmpty, fields.skip(field: lastDevice.path) { return lastDevice.number }
    var rest = fields
    guard let path = rest.next(), path.first == UInt8(ascii: "/"), path.last == UInt8(ascii: ":")
    else { return 0 }
    fields = rest
    let name = UnsafeRawBufferPointer(rebasing: path.dropLast())
    let known = devices.first { name.elementsEqual($0.path) }?.number
    if known == nil {
      guard deviceCount < Self.maxDevices else {
        throw LineError("more than \(Self.maxDevices) devices")
      }
      devices.append((Array(name), deviceCount))
      deviceCount += 1
    }
    lastDevice = (Array(path), known ?? deviceCount - 1)
    return lastDevice.number
  }

  /// Parses what follows `remove device`, such as `5: /dev/input/event5`. Another device may get the
  /// path later.
  private mutating func remove(_ rest: Fields) -> Entry? {
    var fields = rest
    guard fields.next() != nil, let path = fields.next(),
      let index = devices.firstIndex(where: { $0.path.elementsEqual(path) })
    else { return nil }
    lastDevice.path = []
    return .gone(device: devices.remove(at: index).number, at: nil)
  }

  @inline(__always)
  private func type(_ fields: inout Fields) -> UInt16? {
    if let number: UInt16 = fields.hexadecimal(digits: 4...4) { return number }
    // Skips a name together with the spaces that the tool adds, which is faster.
    if fields.skip("EV_KEY       ") { return InputEvent.key }
    if fields.skip("EV_SYN       ") { return InputEvent.synchronization }
    guard let name = fields.next() else { return nil }
    if name.equals("EV_KEY") { return InputEvent.key }
    if name.equals("EV_SYN") { return InputEvent.synchronization }
    if name.equals("EV_LED") { return InputEvent.led }
    // `.max` stands for any other type; its events are ignored.
    return name.begins(with: "EV_") ? .max : nil
  }

  /// The code of an event; `nil` if only Android knows the name of its key, or if its LED belongs
  /// to no lock.
  private mutating func code(_ fields: inout Fields, _ type: UInt16) throws(LineError) -> UInt16? {
    if let number: UInt16 = fields.hexadecimal(digits: 4...4) { return number }
    guard let name = fields.next() else { throw Self.unknownLine }
    if type == InputEvent.key {
      // These factors give no two common keys the same index.
      let (middle, end) = (Int(name[name.count / 2]), Int(name[name.count - 1]))
      let index = (end + 4 * middle + 52 * name.count) & 255
      if name.equals(codes[index].name) { return codes[index].code }
      if let code = KeyCode(name: String(decoding: name, as: UTF8.self))?.number {
        codes[index] = (Array(name), code)
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
    throw LineError("unknown event code \(quoted(name))")
  }

  @inline(__always)
  private func value(_ fields: inout Fields) -> Int32? {
    if let number: UInt32 = fields.hexadecimal(digits: 8...8) { return Int32(bitPattern: number) }
    if fields.skip("DOWN                ") { return 1 }
    if fields.skip("UP                  ") { return 0 }
    if fields.skip("REPEAT              ") { return 2 }
    guard let name = fields.next() else { return nil }
    if name.equals("UP") { return 0 }
    if name.equals("DOWN") { return 1 }
    return name.equals("REPEAT") ? 2 : nil
  }
}

extension UInt8 {
  /// Whether a kernel's name of a code may have this character.
  fileprivate var isOfCodeName: Bool {
    isDigit || self == UInt8(ascii: "_") || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self)
  }
}
