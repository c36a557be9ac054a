import KeyboardModes

/// Parses the output of `libinput record`, version 1 of its format, line by line as the tool writes
/// it.
///
///     version: 1
///     ndevices: 1
///     devices:
///     - node: /dev/input/event4
///       evdev:
///         name: "AT Translated Set 2 keyboard"
///       events:
///       - evdev:
///         - [  0,      0,   1,  42,       1] # EV_KEY / KEY_LEFTSHIFT            1
///         - [  0,      0,   0,   0,       0] # ------------ SYN_REPORT (0) ---------- +0ms
///
/// Each device has a list of entries. An entry called `evdev` is a report; each event has seconds,
/// microseconds, type, code and value, all decimal. Other entries are skipped, as the format asks
/// of readers, except for notes (see ``Note``). From the description of a device, the parser takes
/// the ids and, in comments, the states of LEDs. The beginning of each line tells the line's
/// meaning, so a fragment is read too. Source: tools/libinput-record.man and libinput-record.c of
/// freedesktop.org's libinput.
struct LibinputParser: EntryParser {
  private(set) var isRecognized = false
  private(set) var warning: String?

  /// Whether the recording says that it has only one device. Such a recording is in the order of
  /// time.
  private(set) var isInOrder = false

  /// Whether the present lines are the events of a report, not another entry or a description.
  private var isInReport = false

  /// The number of devices whose descriptions have begun.
  private var descriptionCount = 0

  /// The index of the present device; `deviceCount` is the number of devices that have an index. A
  /// device gets an index by its first event, LED state, or note other than `parent`.
  private var device: Int?
  private var deviceCount = 0

  /// The maximum number of devices with an index. The events of several devices stay in memory.
  private static let maxDevices = 256

  /// The type and the code in the last comments `Event type` and `Event code` of a description.
  private var described: (type: Int64?, code: Int64?)

  /// Whether the report has the scan code of A. Obfuscated recordings have this code for all keys.
  private var hasScanCodeOfA = false

  mutating func parse(_ line: UnsafeRawBufferPointer) throws(LineError) -> Entry? {
    var fields = Fields(line)
    fields.skipSpace()
    if fields.skip("- [") { return try parseEvent(fields, of: line) }
    if fields.skip(UInt8(ascii: "#")) {
      return try parseComment(fields, of: line)
    } else if fields.skip("- evdev:") {
      try beginEntry()
      (isInReport, hasScanCodeOfA) = (true, false)
      try refuseMore(&fields)
    } else if fields.skip("- keymoded: ") {
      try beginEntry()
      return try parseNote(&fields)
    } else if fields.skip("- node:") {
      return beginDevice()
    } else if !isInReport {
      return try parseDescription(line)
    } else if fields.hasMore {
      guard fields.skip("- "), fields.skip(past: ":") else {
        throw LineError("neither an event nor the beginning of another entry")
      }
      isInReport = false
    }
    return nil
  }

  private mutating func beginDevice() -> Entry {
    (isRecognized, isInReport, device) = (true, false, nil)
    descriptionCount += 1
    return .ids(nil, device: deviceCount)
  }

  /// Parses the text after `#`.
  ///
  ///     # Event type 17 (EV_LED)
  ///     #   Event code 1 (LED_CAPSL)
  ///     #       State 1
  @inline(never)
  private mutating func parseComment(
    _ comment: Fields, of line: UnsafeRawBufferPointer
  ) throws(LineError) -> Entry? {
    var words = comment
    words.skipSpace()
    if words.skip("Event type ") {
      described = (words.decimal(), nil)
    } else if words.skip("Event code ") {
      described.code = words.decimal()
    } else if words.skip("State "), described.type == Int64(InputEvent.led),
      let code = described.code.flatMap(UInt16.init(exactly:)), let state = words.decimal(),
      let report = LEDReport(number: code, value: state == 0 ? 0 : 1)
    {
      return .leds(report, device: try presentDevice())
    } else if words.skip("Closing after "), words.skip(past: "inactivity- node:") {
      // With --autorestart, the tool does not end this comment's line before the next device.
      return beginDevice()
    } else if line.begins(with: "# libinput record") {
      isRecognized = true
    }
    return nil
  }

  private mutating func beginEntry() throws(LineError) {
    (isRecognized, isInReport) = (true, false)
    guard !isInOrder || descriptionCount <= 1 else {
      throw LineError("events of a second device, but 'ndevices' is 1")
    }
  }

  private mutating func parseDescription(
    _ line: UnsafeRawBufferPointer
  ) throws(LineError) -> Entry? {
    var fields = Fields(line)
    if fields.skip("version:") {
      let version = fields.next().map { String(decoding: $0, as: UTF8.self) } ?? ""
      guard version == "1" else {
        throw LineError("unknown format version '\(version)'; expected 1", isFatal: true)
      }
    } else if fields.skip("ndevices:") {
      isRecognized = true
      isInOrder = fields.next()?.equals("1") == true
    } else {
      fields.skipSpace()
      if fields.skip("events:") { try refuseMore(&fields) }
      if fields.skip("id:"), let list = try? fields.list("ids") {
        let ids = list.compactMap(UInt16.init(exactly:))
        guard ids.count >= 3 else { return nil }
        return .ids(HardwareIDs(bus: ids[0], vendor: ids[1], product: ids[2]), device: deviceOrNext)
      }
      guard Self.isYAML(line) else { throw LineError("neither an event nor a line of YAML") }
    }
    return nil
  }

  /// Whether a description or an entry of another kind may have this line: a name with its value,
  /// an item of a list, or a part of a list of numbers.
  private static func isYAML(_ line: UnsafeRawBufferPointer) -> Bool {
    let line = line.withoutIndentation
    var words = Fields(line)
    let name = words.next()
    let isList =
      line.contains(UInt8(ascii: ","))
      && line.allSatisfy { $0.hexadecimalDigit < 16 || "x,[] \t".utf8.contains($0) }
    return line.isEmpty || isList || line.begins(with: "-") || line.begins(with: "0x")
      || line.equals("]")
      || name?.last == UInt8(ascii: ":") && name?.dropLast().allSatisfy(\.isOfYAMLName) == true
  }

  /// The index of the present device, or the index that this device will get.
  private var deviceOrNext: Int { device ?? deviceCount }

  /// Throws if events are in the same line as the name of their list.
  private func refuseMore(_ fields: inout Fields) throws(LineError) {
    guard let more = fields.next(), more.first != UInt8(ascii: "#") else { return }
    throw LineError("unexpected \(quoted(more)): each event has a line of its own")
  }

  // MARK: - Events

  private mutating func parseEvent(
    _ fields: Fields, of line: UnsafeRawBufferPointer
  ) throws(LineError) -> Entry? {
    guard isInReport else { throw LineError("an event outside of a report") }
    var event = try Self.event(fields)
    if event.type == InputEvent.miscellaneous, event.code == InputEvent.scanCode {
      hasScanCodeOfA = event.value == 30
    }
    guard
      event.type == InputEvent.key || event.type == InputEvent.led
        || event.type == InputEvent.synchronization
    else { return nil }
    if event.type == InputEvent.key { checkObfuscation(event.code, line) }
    event.device = try presentDevice()
    return .event(event)
  }

  /// Parses ` 0, 300002,   1,  42,       2]`.
  @inline(__always)
  private static func event(_ fields: Fields) throws(LineError) -> InputEvent {
    var fields = fields
    let seconds = try fields.number(before: .comma)
    let microseconds = try fields.number(before: .comma)
    let type = try fields.number(before: .comma)
    let code = try fields.number(before: .comma)
    let value = try fields.number(before: .closingBracket)
    return InputEvent(
      time: try Time(seconds: seconds, microseconds: microseconds), type: try exact(type, "type"),
      code: try exact(code, "code"), value: try exact(value, "value"))
  }

  @inline(__always)
  private static func exact<Number: FixedWidthInteger>(
    _ number: Int64, _ name: String
  ) throws(LineError) -> Number {
    if let number = Number(exactly: number) { return number }
    throw LineError("event \(name) \(number) is out of range")
  }

  /// Warns if keys were obfuscated: without `--show-keycodes`, libinput writes all character keys
  /// and both Shift keys as A, and every scan code as the scan code of A. Older versions do not
  /// append `(obfuscated)` to the event.
  private mutating func checkObfuscation(_ code: UInt16, _ line: UnsafeRawBufferPointer) {
    guard hasScanCodeOfA && code != 30 || line.firstOffset(of: "(obfuscated)") != nil else {
      return
    }
    warning = "libinput hid the key codes, even those of Shift; record with --show-keycodes"
  }

  /// The index of the present device; a new one when first needed.
  private mutating func presentDevice() throws(LineError) -> Int {
    if let device { return device }
    guard deviceCount < Self.maxDevices else {
      throw LineError("more than \(Self.maxDevices) devices with events")
    }
    device = deviceCount
    deviceCount += 1
    return deviceCount - 1
  }

  // MARK: - Notes

  /// Parses a note of `keymodectl record`. Unknown notes are skipped.
  private mutating func parseNote(_ fields: inout Fields) throws(LineError) -> Entry? {
    guard let word = fields.next() else { return nil }
    if word.elementsEqual(Note.lost.utf8) { return .lost(device: try presentDevice()) }
    if word.elementsEqual(Note.missed.utf8) { return .missed(device: try presentDevice()) }
    if word.elementsEqual("{\(Note.lit):".utf8) {
      let leds = try parseLEDs(&fields)
      return .leds(LEDReport(leds, on: leds), device: try presentDevice())
    }
    if word.elementsEqual("{\(Note.unlit):".utf8) {
      return .leds(LEDReport(try parseLEDs(&fields)), device: try presentDevice())
    }
    if word.elementsEqual("{\(Note.held):".utf8) {
      let keys = try fields.list("held keys").map { number throws(LineError) in
        guard let key = KeyCode(number) else {
          throw LineError("a key code of the held keys is above \(KeyCode.max)")
        }
        return key
      }
      return .held(keys, device: try presentDevice())
    }
    if word.elementsEqual("{\(Note.parent):".utf8) {
      guard let list = try? fields.list("numbers"), list.count == 1,
        let number = UInt16(exactly: list[0])
      else {
        throw LineError("the number of the parent is not one up to 65535")
      }
      return .parent(number, device: deviceOrNext)
    }
    guard word.elementsEqual("{\(Note.gone):".utf8) else { return nil }
    let numbers = try fields.list("seconds and microseconds")
    guard numbers.count == 2 else { throw LineError("the time is not two numbers") }
    let time = try Time(seconds: numbers[0], microseconds: numbers[1])
    return .gone(device: try presentDevice(), at: time)
  }

  /// Parses the numbers of LEDs; LEDs that belong to no lock are skipped.
  private func parseLEDs(_ fields: inout Fields) throws(LineError) -> LEDs {
    try fields.list("LEDs").reduce(into: LEDs()) { leds, number in
      leds.formUnion(
        UInt16(exactly: number).flatMap { LEDReport(number: $0, value: 1) }?.known ?? [])
    }
  }
}

extension Fields {
  /// The next number of an event. `mark` must follow the number.
  @inline(__always)
  fileprivate mutating func number(before mark: UInt8) throws(LineError) -> Int64 {
    guard let number = decimal(), skip(mark) else {
      throw LineError("the event is not a list of five numbers")
    }
    return number
  }

  /// Parses a list of numbers in brackets. Messages call the list `name`.
  fileprivate mutating func list(_ name: String) throws(LineError) -> [Int64] {
    let error = LineError("the \(name) are not a list of numbers")
    skipSpace()
    guard skip(UInt8(ascii: "[")) else { throw error }
    guard !skip(.closingBracket) else { return [] }
    var numbers: [Int64] = []
    repeat {
      guard numbers.count <= KeyCode.max, let number = decimal() else { throw error }
      numbers.append(number)
    } while skip(.comma)
    guard skip(.closingBracket) else { throw error }
    return numbers
  }
}
