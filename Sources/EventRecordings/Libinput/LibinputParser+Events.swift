import KeyboardModes
import YAML

extension LibinputParser {
  /// Takes the event whose list begins with `start`.
  mutating func takeEvent(_ start: EventStream.Event) throws(LibinputFault) -> Entry? {
    reader.beginValue(start)
    let numbers = try takeNumbers(5, start, "event")
    reader.endEvent()
    do throws(LineFault) {
      let event = try event(numbers)
      if event.type == InputEvent.key { _ = try KeyEvent(event) }
      checkObfuscation(event)
      return .event(event)
    } catch {
      throw fault(error.message, start)
    }
  }

  private mutating func event(_ numbers: [Int64]) throws(LineFault) -> InputEvent {
    let time = try Time(seconds: numbers[0], microseconds: numbers[1])
    let type: UInt16 = try number(numbers[2], "type")
    let code: UInt16 = try number(numbers[3], "code")
    let value: Int32 = try number(numbers[4], "value")
    return InputEvent(time: time, type: type, code: code, value: value, device: devices.number())
  }

  private func number<Number: FixedWidthInteger>(
    _ value: Int64, _ name: String
  ) throws(LineFault) -> Number {
    if let number = Number(exactly: value) { return number }
    throw LineFault("event \(name) \(value) is out of range")
  }

  /// Takes the numbers of a list that begins with `start`.
  ///
  /// - Parameters:
  ///   - count: how many there have to be; `nil` for at most as many as there are keys.
  ///   - what: the name of the list in errors.
  private mutating func takeNumbers(
    _ count: Int?, _ start: EventStream.Event, _ what: String
  ) throws(LibinputFault) -> [Int64] {
    var numbers: [Int64] = []
    var wrong: LibinputFault?
    guard start.kind == .sequenceStart else {
      try skip(start)
      throw fault("\(what) is not a list of numbers", start)
    }
    while case let part = try nextPart(), part.kind != .sequenceEnd {
      let number = part.kind == .scalar ? Int64(part.text) : nil
      if number == nil {
        wrong = wrong ?? fault("\(quoted(part.text.utf8)) of the \(what) is not a number", part)
      }
      try skip(part)
      if numbers.count <= count ?? Int(KeyCode.max) {
        numbers.append(number ?? 0)
      } else {
        reader.endValue()  // It is wrong anyway, and may be too long to be kept.
      }
    }
    if let wrong { throw wrong }
    guard numbers.count <= count ?? Int(KeyCode.max), numbers.count == count ?? numbers.count else {
      let wanted = count.map { "not \($0)" } ?? "too many"
      throw fault("the \(what) has \(numbers.count) numbers, \(wanted)", start)
    }
    return numbers
  }

  /// Takes a note of `keymodectl record`. Unknown notes are skipped.
  mutating func takeNote(_ value: EventStream.Event) throws(LibinputFault) -> Entry? {
    var found: Entry?
    switch value.kind {
    case .scalar:
      if value.text == Note.lost { found = .lost(device: devices.number()) }
      if value.text == Note.missed { found = .missed(device: devices.number()) }
    case .mappingStart:
      while case let key = try nextPart(), key.kind != .mappingEnd {
        let value = try nextPart()
        switch key.text {
        case Note.held: found = try takeHeld(value)
        case Note.gone: found = try takeGone(value)
        default:
          reader.endValue()
          try skip(value)
        }
      }
    case .sequenceStart, .sequenceEnd, .mappingEnd, .end:
      reader.endValue()
      try skip(value)
    }
    return found
  }

  private mutating func takeHeld(_ value: EventStream.Event) throws(LibinputFault) -> Entry {
    let numbers = try takeNumbers(nil, value, "list of held keys")
    let keys = numbers.compactMap { Int(exactly: $0).flatMap { KeyCode($0) } }
    guard keys.count == numbers.count else {
      throw fault("a key code of the held keys is above \(KeyCode.max)", value)
    }
    return .held(keys, device: devices.number())
  }

  private mutating func takeGone(_ value: EventStream.Event) throws(LibinputFault) -> Entry {
    let numbers = try takeNumbers(2, value, "time")
    do throws(LineFault) {
      let time = try Time(seconds: numbers[0], microseconds: numbers[1])
      return .gone(device: devices.number(), at: time)
    } catch {
      throw fault(error.message, value)
    }
  }

  /// Warns if keys were obfuscated: without `--show-keycodes`, libinput writes all character keys
  /// and both Shift keys as A, and the scan code of every key as that of A.
  private mutating func checkObfuscation(_ event: InputEvent) {
    switch (event.type, event.code) {
    case (InputEvent.miscellaneous, InputEvent.scanCode):
      hasScanCodeOfA = event.value == 30
    case (InputEvent.key, let code):
      guard reader.source.hasObfuscationMark || (hasScanCodeOfA && code != 30) else { return }
      warnOfObfuscation()
    default: break
    }
  }

  func warnOfObfuscation() {
    options.warn(
      RecordingError(
        "libinput hid the key codes, even those of Shift; record with --show-keycodes", file: file))
  }
}
