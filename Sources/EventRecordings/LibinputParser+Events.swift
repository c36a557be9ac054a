internal import KeyboardModes
internal import YAML

extension LibinputParser {
  func takeEvent(_ start: EventStream.Event) throws(RecordingError) -> Entry? {
    open(start)
    let numbers = try takeNumbers(5, start, "event")
    recovery.openLine = nil
    recovery.lastTaken = line
    do throws(LineFault) {
      let event = try event(numbers)
      if event.type == InputEvent.key { _ = try KeyEvent(event) }
      checkObfuscation(event)
      return .event(event)
    } catch {
      throw fault(error.message, start)
    }
  }

  private func event(_ numbers: [Int64]) throws(LineFault) -> InputEvent {
    let time = try Time(seconds: numbers[0], microseconds: numbers[1])
    guard let type = UInt16(exactly: numbers[2]) else {
      throw LineFault("event type \(numbers[2]) is out of range")
    }
    guard let code = UInt16(exactly: numbers[3]) else {
      throw LineFault("event code \(numbers[3]) is out of range")
    }
    guard let value = Int32(exactly: numbers[4]) else {
      throw LineFault("event value \(numbers[4]) is out of range")
    }
    return InputEvent(time: time, type: type, code: code, value: value, device: device)
  }

  /// The numbers of a list that has begun.
  ///
  /// - Parameter count: how many there have to be; any number up to that of all keys where none is
  ///   given.
  private func takeNumbers(
    _ count: Int?, _ start: EventStream.Event, _ what: String
  ) throws(RecordingError) -> [Int64] {
    var numbers: [Int64] = []
    var wrong: RecordingError?
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
        recovery.openLine = nil  // It may be as long as the recording, and is wrong anyway.
      }
    }
    if let wrong { throw wrong }
    guard numbers.count <= count ?? Int(KeyCode.max), numbers.count == count ?? numbers.count else {
      let wanted = count.map { "\($0)" } ?? "fewer"
      throw fault("\(what) of \(numbers.count) numbers, not \(wanted)", start)
    }
    return numbers
  }

  /// What `keymodectl record` notes beside the events.
  func takeNote(_ value: EventStream.Event) throws(RecordingError) -> Entry? {
    var found: Entry?
    switch value.kind {
    case .scalar:
      if value.text == Note.lost { found = .lost(device: device) }
    case .mappingStart:
      while case let key = try nextPart(), key.kind != .mappingEnd {
        let value = try nextPart()
        switch key.text {
        case Note.held: found = try held(try takeNumbers(nil, value, "list of held keys"), value)
        case Note.gone: found = try gone(try takeNumbers(2, value, "time"), value)
        default:
          recovery.openLine = nil
          try skip(value)
        }
      }
    case .sequenceStart, .sequenceEnd, .mappingEnd, .end:
      recovery.openLine = nil
      try skip(value)
    }
    return found
  }

  private func held(
    _ numbers: [Int64], _ value: EventStream.Event
  ) throws(RecordingError) -> Entry {
    let keys = numbers.compactMap { Int(exactly: $0).flatMap { KeyCode($0) } }
    guard keys.count == numbers.count else {
      throw fault("a key code of the held keys is above \(KeyCode.max)", value)
    }
    return .held(keys, device: device)
  }

  private func gone(
    _ numbers: [Int64], _ value: EventStream.Event
  ) throws(RecordingError) -> Entry {
    do throws(LineFault) {
      return .gone(device: device, at: try Time(seconds: numbers[0], microseconds: numbers[1]))
    } catch {
      throw fault(error.message, value)
    }
  }

  /// Without `--show-keycodes` the keys of characters are all written as A, and both Shift keys with
  /// them; the scan code always.
  private func checkObfuscation(_ event: InputEvent) {
    switch (event.type, event.code) {
    case (InputEvent.miscellaneous, InputEvent.scanCode):
      hasScanCodeOfA = event.value == 30
    case (InputEvent.key, let code):
      guard source.hasObfuscationMark || (hasScanCodeOfA && code != 30) else { return }
      options.warn(
        RecordingError(
          "keys were obfuscated, both Shift keys too: record with --show-keycodes", file: file))
    default: break
    }
  }
}
