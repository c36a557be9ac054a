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
/// Each device has a list of entries. An entry called `evdev` is a report; its events are seconds,
/// microseconds, type, code and value, all decimal. Other entries and the descriptions of devices are
/// skipped, as the format asks of readers. The beginning of each line says what it is, so a fragment
/// of a recording is read too. Source: tools/libinput-record.man of freedesktop.org's libinput.
struct LibinputParser: EntryParser {
  /// What a line belongs to.
  private enum Place {
    /// The beginning of the file, or the description of a device.
    case description
    /// The list of events of a report.
    case report
    /// An entry that is not a report.
    case otherEntry
  }

  private(set) var isRecognized = false
  var warning: Warning?

  /// Whether the recording says that it is of one device, and so is in the order of time.
  private(set) var isOfOneDevice = false

  private var place = Place.description

  /// The number of devices whose descriptions have begun.
  private var descriptions = 0

  /// The number of the present device, once it has an event, and of devices with events. Devices
  /// without events, of which there may be many, get no numbers.
  private var device: Int?
  private var count = 0

  /// The most devices: the events of each are kept.
  private static let mostDevices = 256

  /// Whether the report has the scan code that an obfuscated recording has for all keys.
  private var hasScanCodeOfA = false

  /// What ends a number in a list.
  private static let marks = (UInt8(ascii: ","), UInt8(ascii: "]"))

  /// The numbers of the list that was parsed last. Its memory is used again for each line.
  private var numbers: [Int64] = []

  mutating func parse(
    _ line: UnsafeRawBufferPointer, isComplete: Bool
  ) throws(LineFault) -> Entry? {
    var fields = Fields(line)
    fields.skipSpace()
    if fields.skip("- [") { return try parseEvent(&fields, of: line) }
    if fields.skip("#") {
      if line.begins(with: "# libinput record") { isRecognized = true }
    } else if fields.skip("- evdev:") {
      try beginEntry(.report)
      try refuseMore(&fields)
      hasScanCodeOfA = false
    } else if fields.skip("- keymoded: ") {
      try beginEntry(.otherEntry)
      return try parseNote(&fields)
    } else if fields.skip("- node:") {
      (isRecognized, place, device) = (true, .description, nil)
      descriptions += 1
    } else if place == .report, fields.hasMore {
      guard fields.skip("- "), fields.skip(to: ":") else {
        throw LineFault("neither an event nor the beginning of another entry")
      }
      place = .otherEntry
    } else if place == .description {
      try parseDescription(line)
    }
    return nil
  }

  private mutating func beginEntry(_ kind: Place) throws(LineFault) {
    (isRecognized, place) = (true, .otherEntry)
    guard !isOfOneDevice || descriptions <= 1 else {
      throw LineFault("events of a second device, but 'ndevices' is 1")
    }
    place = kind
  }

  private mutating func parseDescription(_ line: UnsafeRawBufferPointer) throws(LineFault) {
    var fields = Fields(line)
    if fields.skip("version:") {
      let version = fields.next().map { String(decoding: $0, as: UTF8.self) } ?? ""
      guard version == "1" else {
        throw LineFault("unknown format version '\(version)'; expected 1", isFatal: true)
      }
    } else if fields.skip("ndevices:") {
      isRecognized = true
      isOfOneDevice = fields.next()?.equals("1") == true
    } else {
      fields.skipSpace()
      if fields.skip("events:") { try refuseMore(&fields) }
    }
  }

  /// - Throws: if events are in the same line as the name of their list.
  private func refuseMore(_ fields: inout Fields) throws(LineFault) {
    guard let more = fields.next(), more.first != UInt8(ascii: "#") else { return }
    throw LineFault("unexpected \(quoted(more)): each event has a line of its own")
  }

  // MARK: - Events

  /// Parses ` 0, 300002,   1,  42,       2]`.
  private mutating func parseEvent(
    _ fields: inout Fields, of line: UnsafeRawBufferPointer
  ) throws(LineFault) -> Entry? {
    guard place == .report else {
      guard (try? parseList(&fields, 5, "event")) != nil else { return nil }
      isRecognized = true
      throw LineFault("an event outside of a report")
    }
    try parseList(&fields, 5, "event")
    let time = try Time(seconds: numbers[0], microseconds: numbers[1])
    let type: UInt16 = try number(numbers[2], "type")
    let code: UInt16 = try number(numbers[3], "code")
    let value: Int32 = try number(numbers[4], "value")
    if type == InputEvent.miscellaneous, code == InputEvent.scanCode {
      hasScanCodeOfA = value == 30
    }
    guard type == InputEvent.key || type == InputEvent.synchronization else { return nil }
    if type == InputEvent.key { checkObfuscation(code, line) }
    return .event(
      InputEvent(time: time, type: type, code: code, value: value, device: try presentDevice()))
  }

  private func number<Number: FixedWidthInteger>(
    _ value: Int64, _ name: String
  ) throws(LineFault) -> Number {
    if let number = Number(exactly: value) { return number }
    throw LineFault("event \(name) \(value) is out of range")
  }

  /// Warns if keys were obfuscated: without `--show-keycodes`, libinput writes all character keys
  /// and both Shift keys as A, and the scan code of every key as that of A. Older versions do not say
  /// so behind the event.
  private mutating func checkObfuscation(_ code: UInt16, _ line: UnsafeRawBufferPointer) {
    guard line.ends(with: "(obfuscated)") || (hasScanCodeOfA && code != 30) else { return }
    warning = Warning(
      message: "libinput hid the key codes, even those of Shift; record with --show-keycodes",
      isOfLine: false)
  }

  /// The number of the present device; a new one at its first event.
  private mutating func presentDevice() throws(LineFault) -> Int {
    if let device { return device }
    guard count < Self.mostDevices else {
      throw LineFault("more than \(Self.mostDevices) devices with events")
    }
    device = count
    count += 1
    return count - 1
  }

  // MARK: - Notes

  /// Parses a note of `keymodectl record`. Unknown notes are skipped.
  private mutating func parseNote(_ fields: inout Fields) throws(LineFault) -> Entry? {
    guard let word = fields.next() else { return nil }
    if word.elementsEqual(Note.lost.utf8) { return .lost(device: try presentDevice()) }
    if word.elementsEqual(Note.missed.utf8) { return .missed(device: try presentDevice()) }
    if word.elementsEqual("{\(Note.held):".utf8) {
      _ = fields.skip(" [")
      try parseList(&fields, nil, "list of held keys")
      let keys = numbers.compactMap { UInt16(exactly: $0).flatMap { KeyCode($0) } }
      guard keys.count == numbers.count else {
        throw LineFault("a key code of the held keys is above \(KeyCode.max)")
      }
      return .held(keys, device: try presentDevice())
    }
    guard word.elementsEqual("{\(Note.gone):".utf8) else { return nil }
    _ = fields.skip(" [")
    try parseList(&fields, 2, "time")
    let time = try Time(seconds: numbers[0], microseconds: numbers[1])
    return .gone(device: try presentDevice(), at: time)
  }

  /// Parses the numbers of a list, behind its opening bracket.
  ///
  /// - Parameters:
  ///   - count: how many there have to be; `nil` for at most as many as there are keys.
  ///   - what: the name of the list in errors.
  private mutating func parseList(
    _ fields: inout Fields, _ count: Int?, _ what: String
  ) throws(LineFault) {
    numbers.removeAll(keepingCapacity: true)
    var isAtEnd = fields.skip("]")
    while !isAtEnd {
      guard let field = fields.next(orEndAt: Self.marks) else {
        throw LineFault("the \(what) has no closing bracket")
      }
      guard let number = Int64(ascii: field) else {
        throw LineFault("\(quoted(field)) of the \(what) is not a number")
      }
      guard numbers.count <= KeyCode.max else { throw LineFault("the \(what) is too long") }
      numbers.append(number)
      isAtEnd = fields.skip("]")
      guard isAtEnd || fields.skip(",") else {
        throw LineFault("the \(what) has no closing bracket")
      }
    }
    guard numbers.count == count ?? numbers.count else {
      throw LineFault("the \(what) has \(numbers.count) numbers, not \(count ?? 0)")
    }
  }
}
