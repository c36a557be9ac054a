import YAML

/// Parses the output of `libinput record`, version 1 of its format.
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
/// microseconds, type, code and value, all decimal. Unknown keys are skipped, as the format asks of
/// readers. A fragment may begin at `devices:`, at `events:`, or with items of either list. A
/// lenient reading goes on behind damage: see `LibinputParser+Recovery.swift`. Source:
/// tools/libinput-record.man of freedesktop.org's libinput.
struct LibinputParser {
  /// A collection of the document: the document itself, one of the two lists, an item of a list, or
  /// the events of a report.
  enum Collection {
    case document, list, item, report
  }

  let file: String
  let options: ReadingOptions
  var reader: LibinputReader
  var devices = LibinputDevices()
  var recovery = LibinputRecovery()
  var isAtEnd = false

  /// The collections that have begun and not ended.
  var context: [Collection] = []

  /// Whether the text has something that only a recording has, and whether it has its header.
  var isRecognized = false
  private var hasHeader = false
  private var hasVersion = false

  /// Whether the report has the scan code that an obfuscated recording has for all keys.
  var hasScanCodeOfA = false

  init(_ input: consuming InputReader, file: String, _ options: ReadingOptions) {
    reader = LibinputReader(input)
    self.file = file
    self.options = options
  }

  /// The next entry; `nil` at the end.
  mutating func next() throws(RecordingError) -> Entry? {
    while !isAtEnd {
      if let entry = try step() { return entry }
    }
    return nil
  }

  private mutating func step() throws(RecordingError) -> Entry? {
    do throws(LibinputFault) {
      let part = try nextPart()
      if part.kind != .end { return try take(part) }
    } catch {
      return try recover(from: error)
    }
    if let end = reader.section.end { return try resume(from: end, skipping: nil) }
    isAtEnd = true
    guard isRecognized else { throw notARecording }
    return nil
  }

  /// The error of a text that is not a recording, with its first fault.
  var notARecording: RecordingError {
    guard let first = recovery.first else { return RecordingError("not a recording", file: file) }
    return RecordingError("not a recording: \(first.message)", file: file, line: first.line)
  }
}

// MARK: - The document

extension LibinputParser {
  private mutating func take(_ part: EventStream.Event) throws(LibinputFault) -> Entry? {
    switch (context.last, part.kind) {
    case (nil, .mappingStart): context.append(.document)
    case (nil, .sequenceStart): context.append(.list)
    case (.list, .mappingStart): context.append(.item)
    case (.document, .scalar): return try takeMember(of: .document, part)
    case (.item, .scalar): return try takeMember(of: .item, part)
    case (.report, .sequenceStart): return try takeEvent(part)
    case (_, .sequenceEnd), (_, .mappingEnd):
      guard context.popLast() == .report, !reader.section.isOneLine else { return nil }
      hasScanCodeOfA = false
      return .reportEnd(device: devices.number())
    case (.document, _), (.item, _):
      // A key that is not text, and its value.
      try skip(part)
      try skip(try nextPart())
    case (.report, _): throw structureFault("event is not a list of numbers", part, resumingAt: 1)
    case (.list, _) where isCertain:
      try skip(part)
      throw structureFault(
        "neither a device nor a report of its events", part,
        resumingAt: part.kind == .sequenceStart ? 0 : 1)
    case (_, _): try skip(part)
    }
    return nil
  }

  /// Takes a key and its value.
  private mutating func takeMember(
    of collection: Collection, _ key: EventStream.Event
  ) throws(LibinputFault) -> Entry? {
    reader.beginValue(key)
    let value = try nextPart()
    reader.endValue()
    switch (collection, key.text, value.kind) {
    case (.document, "version", _): try takeVersion(key, value)
    case (.document, "devices", .sequenceStart):
      recognize(key)
      context.append(.list)
    case (_, "events", .sequenceStart):
      context.append(.list)
      // The lists of a prefix are not lists of the text.
      guard reader.isInText(key) else { return nil }
      isRecognized = true
      devices.beginList()
    case (_, "events", .scalar):
      guard ["", "~", "null"].contains(value.text) else {
        throw structureFault("events are not a list", value, resumingAt: 1)
      }
      recognize(key)
    case (.item, "evdev", .sequenceStart):
      recognize(key)
      recovery.entryColumn = max(0, key.mark.column - 3)
      context.append(.report)
    case (.item, "evdev", .scalar):
      throw structureFault("report is not a list of events", value, resumingAt: 1)
    case (.item, "keymoded", _):
      reader.beginValue(key)
      let note = try takeNote(value)
      reader.endValue()
      return note
    default:
      if collection == .document, reader.isInText(key) {
        hasHeader = hasHeader || key.text == "ndevices" || key.text == "libinput"
      }
      if collection == .item, key.text == "node", reader.isInText(key) {
        recovery.deviceColumn = max(0, key.mark.column - 3)
        devices.begin()
      }
      try skip(value)
    }
    return nil
  }

  private mutating func takeVersion(
    _ key: EventStream.Event, _ value: EventStream.Event
  ) throws(LibinputFault) {
    guard !value.hasLineEnds else {
      throw structureFault("the version has more than one line", value, resumingAt: 1)
    }
    guard !hasVersion else {
      try skip(value)
      throw fault("the key 'version' occurs twice", key)
    }
    guard value.kind == .scalar, value.text == "1" else {
      throw fault("unknown format version '\(value.text)'; expected 1", value, .fatal)
    }
    hasVersion = true
  }

  private mutating func recognize(_ key: EventStream.Event) {
    if reader.isInText(key) { isRecognized = true }
  }

  /// Whether the text is surely a recording: then no event may be lost silently.
  private var isCertain: Bool { isRecognized || hasHeader }

  /// The next part of the YAML.
  ///
  /// - Throws: if there is none, or it is a text with events in it, which shows that a quote or a
  ///   block began by damage.
  mutating func nextPart() throws(LibinputFault) -> EventStream.Event {
    let part: EventStream.Event
    do throws(YAMLError) {
      part = try reader.next()
    } catch {
      throw fault(error)
    }
    guard !part.hasLineEnds || !isCertain || !holdsEvents(part.text) else {
      throw structureFault(
        "this text contains events; a quote or block before it may be damaged", part,
        resumingAt: 1)
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

  /// Skips the rest of the value that began with `part`. Later versions of the format may have new
  /// keys.
  ///
  /// - Throws: if the value has events, which shows that the line of its key is damaged.
  mutating func skip(_ part: EventStream.Event) throws(LibinputFault) {
    guard part.kind == .sequenceStart || part.kind == .mappingStart else { return }
    var open = [SkippedCollection(part)]
    var last = part
    while let innermost = open.last {
      let next = try nextPart()
      switch next.kind {
      case .scalar: open[open.count - 1].add(next)
      case .mappingStart: open.append(SkippedCollection(next))
      case .sequenceStart:
        let isReport = last.kind == .scalar && last.text == "evdev" && !innermost.isSequence
        if isReport, isCertain {
          throw structureFault("events outside of a list of events", last, resumingAt: 0)
        }
        open.append(SkippedCollection(next))
      case .sequenceEnd, .mappingEnd:
        open.removeLast()
        if innermost.isEvent, open.last?.isSequence == true, isCertain {
          throw structureFault("an event outside of a report", innermost.part, resumingAt: 0)
        }
      case .end: return
      }
      last = next
    }
  }
}

// MARK: - Faults

extension LibinputParser {
  func fault(
    _ message: String, _ part: EventStream.Event, _ kind: LibinputFault.Kind = .value
  ) -> LibinputFault {
    LibinputFault(kind: kind, error: RecordingError(message, file: file, line: part.mark.line))
  }

  /// - Parameter lines: how many lines behind that of `part` the text has to be read anew.
  private func structureFault(
    _ message: String, _ part: EventStream.Event, resumingAt lines: Int
  ) -> LibinputFault {
    fault(message, part, .structure(resume: part.mark.line + lines))
  }

  private func fault(_ error: YAMLError) -> LibinputFault {
    if let failure = reader.source.failure {
      return LibinputFault(kind: .fatal, error: RecordingError(failure, file: file))
    }
    let line = error.byte.map { reader.source.line(ofByte: $0) }
    let isCutOff = line == nil && reader.hasReachedEnd && isRecognized
    let message = (isCutOff ? "the recording is cut off here: " : "") + error.message
    return LibinputFault(
      kind: .yaml(unreadable: line),
      error: RecordingError(message, file: file, line: line ?? error.mark.line))
  }
}

/// A list or a mapping that is skipped.
private struct SkippedCollection {
  let part: EventStream.Event
  private var count = 0
  private var hasOnlyNumbers = true

  init(_ part: EventStream.Event) { self.part = part }

  var isSequence: Bool { part.kind == .sequenceStart }

  /// Whether it looks like an event: a list of five numbers.
  var isEvent: Bool { isSequence && count == 5 && hasOnlyNumbers }

  mutating func add(_ scalar: EventStream.Event) {
    count += 1
    hasOnlyNumbers = hasOnlyNumbers && Int64(scalar.text) != nil
  }
}
