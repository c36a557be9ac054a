internal import KeyboardModes
internal import YAML

/// Reads what `libinput record` writes, version 1 of its format.
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
/// The events of each device are a list of their own. Each entry of a list is a report; its events are
/// seconds, microseconds, type, code and value, all decimal. Keys that are not known are passed over,
/// as the format asks of its readers. A fragment may begin at `devices:`, at `events:`, or with
/// entries of either list. What is no recording at all is refused; of one that is damaged, a lenient
/// reader goes on behind the damage. Source: tools/libinput-record.man of freedesktop.org's libinput.
final class LibinputParser {
  /// What lines of it, or of a fragment of it, begin with.
  private static let marks = [
    "# libinput record", "version: 1", "ndevices:", "libinput:", "devices:", "events:", "- evdev:",
    "- node:", "- events:", "- keymoded:",
  ]

  /// Whether only such a recording has this line.
  static func claims(_ line: UnsafeRawBufferPointer) -> Bool {
    let text = line.drop { $0 == .space || $0 == .tab }
    return marks.contains { text.starts(with: $0.utf8) } || isEvent(text)
  }

  /// `- [  1, 300002,   1,  42,       2]`
  private static func isEvent(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
    guard text.starts(with: "- [".utf8), let end = text.firstIndex(of: UInt8(ascii: "]")) else {
      return false
    }
    let numbers = text[..<end].dropFirst(3).split(separator: UInt8(ascii: ","))
    return numbers.count == 5
      && numbers.allSatisfy { number in
        let digits = UnsafeRawBufferPointer(rebasing: number.drop { $0 == .space })
        return Int32(ascii: digits) != nil
      }
  }

  /// Whether these lines say how many devices there are, or end behind where that would stand.
  static func tellsDevices(_ lines: UnsafeRawBufferPointer) -> Bool {
    lines.split(separator: UInt8(ascii: "\n")).contains { line in
      let text = line.drop { $0 == .space || $0 == .tab }
      return ["ndevices:", "devices:", "events:", "- "].contains { text.starts(with: $0.utf8) }
    }
  }

  /// What the reader is inside of.
  enum Place {
    case root, list, item, report
  }

  let source: LibinputSource
  let file: String
  let options: ReadingOptions
  private var yaml: EventStream
  var places: [Place] = []
  var isAtEnd = false

  /// Whether anything was found that only a recording has, and whether its header was.
  var isRecognized = false
  private var hasHeader = false

  private var hasVersion = false
  private(set) var isOtherVersion = false
  var skipped = SkippedFaults()

  /// How many lists of events have been met.
  private(set) var listsMet = 0

  /// How many devices have had an event, and which of them the list is of that is being read.
  private var devicesMet = 0
  private var numberOfList: Int?

  /// The line that was read last.
  private(set) var line = 0

  /// Whether the report has the scan code that stands for all where keys were obfuscated.
  var hasScanCodeOfA = false

  /// Where reading goes on behind a fault, and how.
  var recovery = LibinputRecovery()

  init(_ input: consuming InputReader, file: String, _ options: ReadingOptions) {
    let source = LibinputSource(input)
    self.source = source
    yaml = EventStream { source.read(into: $0) }
    self.file = file
    self.options = options
  }

  var bytesTaken: Int { source.bytesTaken }

  /// What the recording says next, or `nil` at the end. Devices are numbered in the order of their
  /// lists of events.
  func next() throws(RecordingError) -> Entry? {
    while !isAtEnd {
      do throws(RecordingError) {
        if let entry = try step() { return entry }
      } catch {
        if let entry = try recover(from: error) { return entry }
      }
    }
    return nil
  }
}

// MARK: - The document

extension LibinputParser {
  private func step() throws(RecordingError) -> Entry? {
    let part = try nextPart()
    switch (places.last, part.kind) {
    case (_, .end): return try end()
    case (nil, .mappingStart): places.append(.root)
    case (nil, .sequenceStart): places.append(.list)
    case (.root, .scalar): try takeMember(of: .root, part)
    case (.list, .mappingStart): places.append(.item)
    case (.item, .scalar): return try takeMember(of: .item, part)
    case (.report, .sequenceStart): return try takeEvent(part)
    case (_, .sequenceEnd), (_, .mappingEnd): return leave()
    case (.root, _), (.item, _):
      // A key that is no text, and its value.
      try skip(part)
      try skip(try nextPart())
    case (.report, _): throw structureFault("event is not a list of numbers", part, goingOn: 1)
    case (.list, _) where isCertain:
      try skip(part)
      throw structureFault(
        "neither a device nor an entry of its events", part,
        goingOn: part.kind == .sequenceStart ? 0 : 1)
    case (_, _): try skip(part)
    }
    return nil
  }

  /// Takes the value that follows a key.
  @discardableResult
  private func takeMember(
    of place: Place, _ key: EventStream.Event
  ) throws(RecordingError) -> Entry? {
    open(key)
    let value = try nextPart()
    recovery.openLine = nil
    switch (place, key.text, value.kind) {
    case (.root, "version", .scalar) where value.hasLineEnds:
      throw structureFault("version of more than one line", value, goingOn: 1)
    case (.root, "version", _) where hasVersion:
      try skip(value)
      throw fault("version for the second time", key)
    case (.root, "version", _):
      guard value.kind == .scalar, value.text == "1" else {
        isOtherVersion = true
        throw fault("version '\(value.text)' of the format is not known; 1 is", value)
      }
      hasVersion = true
    case (.root, "devices", .sequenceStart):
      recognize(key)
      places.append(.list)
    case (_, "events", .sequenceStart): enterEvents(key)
    case (_, "events", .scalar):
      guard ["", "~", "null"].contains(value.text) else {
        throw structureFault("events are not a list", value, goingOn: 1)
      }
      recognize(key)
    case (.item, "evdev", .sequenceStart):
      recognize(key)
      recovery.entryColumn = max(0, key.mark.column - 3)
      places.append(.report)
    case (.item, "evdev", .scalar):
      throw structureFault("report is not a list of events", value, goingOn: 1)
    case (.item, "keymoded", _):
      open(key)
      let note = try takeNote(value)
      recovery.openLine = nil
      return note
    default:
      if place == .root, isOfText(key) {
        hasHeader = hasHeader || key.text == "ndevices" || key.text == "libinput"
      }
      if place == .item, key.text == "node", isOfText(key) {
        recovery.deviceColumn = max(0, key.mark.column - 3)
        numberOfList = nil
      }
      try skip(value)
    }
    return nil
  }

  private func enterEvents(_ key: EventStream.Event) {
    places.append(.list)
    // What stands before a part of the text says where that is, and no more.
    guard isOfText(key) else { return }
    isRecognized = true
    listsMet += 1
    numberOfList = nil
  }

  private func recognize(_ key: EventStream.Event) {
    if isOfText(key) { isRecognized = true }
  }

  private func isOfText(_ part: EventStream.Event) -> Bool { part.mark.line >= recovery.start }

  /// Whether this is a recording, of which nothing may be lost without a word.
  private var isCertain: Bool { isRecognized || hasHeader }

  /// The device whose events are being read: numbered when the first of them comes, since those
  /// without events may be many. Entries that no list surrounds are a fragment, of one device.
  var device: Int {
    if let number = numberOfList { return number }
    defer { devicesMet += 1 }
    numberOfList = devicesMet
    return devicesMet
  }

  private func leave() -> Entry? {
    guard places.popLast() == .report, !recovery.isOneLine else { return nil }
    hasScanCodeOfA = false
    return .reportEnd(device: device)
  }

  private func end() throws(RecordingError) -> Entry? {
    if recovery.end != nil { return try endOfPart() }
    isAtEnd = true
    guard isRecognized else { throw notARecording }
    return nil
  }

  var notARecording: RecordingError {
    guard let first = recovery.first else { return RecordingError("not a recording", file: file) }
    return RecordingError("not a recording: \(first.message)", file: file, line: first.line)
  }

  /// From now on reads what `source` has from its new place on.
  func restart(atLine line: Int) {
    yaml = EventStream(firstLine: line) { [source] in source.read(into: $0) }
    places = []
    hasScanCodeOfA = false
  }

  func nextPart() throws(RecordingError) -> EventStream.Event {
    let part: EventStream.Event
    do throws(YAMLError) {
      part = try yaml.next()
    } catch {
      throw fault(error)
    }
    if part.kind == .scalar, isOfText(part) {
      // Lists begin where the first of their items does, and end where something else begins.
      line = part.mark.line
      recovery.reached = max(recovery.reached, line)
      source.doneLine = recovery.done
    }
    guard !part.hasLineEnds || !isCertain || !holdsEvents(part.text) else {
      throw structureFault("text with events in it", part, goingOn: 1)
    }
    return part
  }

  private func holdsEvents(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 {
      let bytes = UnsafeRawBufferPointer($0)
      return bytes.firstOffset(of: "- evdev:") != nil || bytes.firstOffset(of: "- [") != nil
    }
  }

  /// Passes over the rest of what began with `part`. The format may get new keys, but events under
  /// others than their own are there only because a line is damaged.
  @discardableResult
  func skip(_ part: EventStream.Event) throws(RecordingError) -> Entry? {
    guard part.kind == .sequenceStart || part.kind == .mappingStart else { return nil }
    var open = [OpenPart(part)]
    var last = part
    while let innermost = open.last {
      let next = try nextPart()
      switch next.kind {
      case .scalar: open[open.count - 1].add(next)
      case .mappingStart: open.append(OpenPart(next))
      case .sequenceStart:
        let isReport = last.kind == .scalar && last.text == "evdev" && !innermost.isSequence
        if isReport, isCertain {
          throw structureFault("events outside of a list of events", last, goingOn: 0)
        }
        open.append(OpenPart(next))
      case .sequenceEnd, .mappingEnd:
        open.removeLast()
        if innermost.isEvent, open.last?.isSequence == true, isCertain {
          throw structureFault("an event outside of a report", innermost.part, goingOn: 0)
        }
      case .end: return nil
      }
      last = next
    }
    return nil
  }

  func fault(_ message: String, _ part: EventStream.Event) -> RecordingError {
    RecordingError(message, file: file, line: part.mark.line)
  }

  /// What begins here is told only when it is whole, so its line may have to be read once more.
  func open(_ part: EventStream.Event) {
    recovery.openLine = part.mark.line
    source.doneLine = recovery.done
  }

  /// A fault for which what follows means something else than it seems to.
  ///
  /// - Parameter lines: how many lines behind that of `part` reading can go on.
  private func structureFault(
    _ message: String, _ part: EventStream.Event, goingOn lines: Int
  ) -> RecordingError {
    recovery.next = part.mark.line + lines
    return fault(message, part)
  }

  private func fault(_ error: YAMLError) -> RecordingError {
    if let failure = source.failure { return RecordingError(failure, file: file) }
    recovery.isYAMLFault = true
    if let byte = error.byte {
      let line = source.line(ofByte: byte)
      recovery.unreadable = line
      return RecordingError(error.message, file: file, line: line)
    }
    let isCutOff = yaml.hasReachedEnd && isRecognized
    let message = (isCutOff ? "the recording is cut off here: " : "") + error.message
    return RecordingError(message, file: file, line: error.mark.line)
  }
}

/// A list or a mapping that is passed over.
private struct OpenPart {
  let part: EventStream.Event
  private var count = 0
  private var hasOnlyNumbers = true

  init(_ part: EventStream.Event) { self.part = part }

  var isSequence: Bool { part.kind == .sequenceStart }

  /// Whether it is what an event is: five numbers.
  var isEvent: Bool { isSequence && count == 5 && hasOnlyNumbers }

  mutating func add(_ scalar: EventStream.Event) {
    count += 1
    hasOnlyNumbers = hasOnlyNumbers && Int64(scalar.text) != nil
  }
}
