internal import KeyboardModes
internal import YAML

/// One device of what `libinput record` writes, version 1 of its format.
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
/// The events of each device are a list of their own, so several devices take several readings of
/// the file, which are merged. Each entry of a list is a report; its events are seconds,
/// microseconds, type, code and value, all decimal. Keys that are not known are passed over, as the
/// format asks of its readers. A fragment may begin at `devices:`, at `events:`, or with entries of
/// either list. Source: tools/libinput-record.man of freedesktop.org's libinput.
final class LibinputStream: RecordingStream {
  /// What lines of it, or of a fragment of it, begin with.
  static let marks: [StaticString] = [
    "# libinput record", "ndevices:", "devices:", "events:", "- evdev:", "- node:",
  ]

  /// What the reader is inside of.
  private enum Place {
    case root, list, item, report
  }

  /// Which devices of the file are wanted.
  enum Selection: Equatable {
    /// The only one, as the file itself says.
    case only
    /// One of several with events, counted from 0.
    case one(Int, of: Int)
    /// None: they are only counted.
    case none
  }

  private let selection: Selection
  private let yaml: EventStream
  let source: LibinputSource
  var interpreter: EntryInterpreter
  private var places: [Place] = []
  private var isRecognized = false
  private var isAtEnd = false
  let file: String
  let options: ReadingOptions
  private(set) var skipped = SkippedFaults()

  /// How many lists of events have been met.
  private(set) var listsMet = 0

  /// How deep in `places` the list of events that is being read lies; `nil` outside of one.
  private var listDepth: Int?

  /// Whether the report has the scan code that stands for all where keys were obfuscated.
  var hasScanCodeOfA = false

  init(
    _ input: consuming InputReader, _ selection: Selection, _ numbering: DeviceNumbering,
    file: String, _ options: ReadingOptions
  ) {
    let source = LibinputSource(input)
    self.source = source
    yaml = EventStream { source.read(into: $0) }
    self.selection = selection
    interpreter = EntryInterpreter(numbering)
    self.file = file
    self.options = options
  }

  var bytesTaken: Int { source.bytesTaken }

  func next() throws(RecordingError) -> RecordedInput? {
    while !isAtEnd {
      do throws(RecordingError) {
        if let input = try step() { return input }
      } catch {
        guard options.isLenient, source.failure == nil else {
          isAtEnd = true
          throw error
        }
        skipped.add(error)
      }
    }
    return nil
  }
}

// MARK: - The document

extension LibinputStream {
  private func step() throws(RecordingError) -> RecordedInput? {
    let part = try nextPart()
    switch (places.last, part.kind) {
    case (_, .end): try end()
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
    case (_, _): try skip(part)
    }
    return nil
  }

  /// Takes the value that follows a key.
  @discardableResult
  private func takeMember(
    of place: Place, _ key: EventStream.Event
  ) throws(RecordingError) -> RecordedInput? {
    let value = try nextPart()
    switch (place, key.text, value.kind) {
    case (.root, "version", _):
      guard value.kind == .scalar, value.text == "1" else {
        isAtEnd = true
        throw fault("version '\(value.text)' of the format is not known; 1 is", value)
      }
    case (.root, "devices", .sequenceStart):
      isRecognized = true
      places.append(.list)
    case (_, "events", .sequenceStart): try enterEvents(value)
    case (_, "events", .scalar): isRecognized = true
    case (.item, "evdev", .sequenceStart):
      isRecognized = true
      guard isWanted else { return try skip(value) }
      places.append(.report)
    case (.item, "keymoded", _) where isWanted: return try takeNote(value)
    default: try skip(value)
    }
    return nil
  }

  private func enterEvents(_ value: EventStream.Event) throws(RecordingError) {
    isRecognized = true
    listsMet += 1
    guard selection != .only || listsMet == 1 else {
      throw fault("events of a second device, where 'ndevices' says that there is one", value)
    }
    guard listDepth == nil, isWanted(list: listsMet - 1) else {
      try skip(value)
      return
    }
    places.append(.list)
    listDepth = places.count
  }

  private func isWanted(list: Int) -> Bool {
    switch selection {
    case .only: true
    case .one(let wanted, _): list == wanted
    case .none: false
    }
  }

  /// Whether what is being read is of the device that is wanted. Entries that no list of events
  /// surrounds are a fragment, and of the first device.
  private var isWanted: Bool { listDepth != nil || (listsMet == 0 && isWanted(list: 0)) }

  private func leave() -> RecordedInput? {
    let place = places.popLast()
    if place == .report {
      hasScanCodeOfA = false
      return interpreter.endReport(of: 0)
    }
    if let depth = listDepth, places.count < depth {
      listDepth = nil
      // What comes behind is for the last reader to judge.
      if case .one(let wanted, let count) = selection, wanted < count - 1 { isAtEnd = true }
    }
    return nil
  }

  private func end() throws(RecordingError) {
    isAtEnd = true
    guard isRecognized else { throw RecordingError("not a recording", file: file) }
  }

  func nextPart() throws(RecordingError) -> EventStream.Event {
    do throws(YAMLError) {
      return try yaml.next()
    } catch {
      throw fatal(error)
    }
  }

  @discardableResult
  func skip(_ part: EventStream.Event) throws(RecordingError) -> RecordedInput? {
    do throws(YAMLError) {
      try yaml.skip(part)
      return nil
    } catch {
      throw fatal(error)
    }
  }

  /// What follows a fault of YAML itself cannot be read.
  private func fatal(_ error: YAMLError) -> RecordingError {
    if let failure = source.failure { return RecordingError(failure, file: file) }
    isAtEnd = true
    guard isRecognized else {
      return RecordingError("not a recording: \(error.message)", file: file, line: error.mark.line)
    }
    let isCutOff = yaml.hasReachedEnd
    let message = isCutOff ? "the recording is cut off here: \(error.message)" : error.message
    return RecordingError(message, file: file, line: error.mark.line)
  }

  func fault(_ message: String, _ part: EventStream.Event) -> RecordingError {
    RecordingError(message, file: file, line: part.mark.line)
  }
}
