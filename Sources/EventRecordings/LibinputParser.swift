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
/// entries of either list. Source: tools/libinput-record.man of freedesktop.org's libinput.
final class LibinputParser {
  /// What lines of it, or of a fragment of it, begin with.
  static let marks: [StaticString] = [
    "# libinput record", "ndevices:", "devices:", "events:", "- evdev:", "- node:",
  ]

  /// What the reader is inside of.
  private enum Place {
    case root, list, item, report
  }

  private let yaml: EventStream
  let source: LibinputSource
  private var places: [Place] = []
  private var isRecognized = false
  private var isAtEnd = false
  private var isOtherVersion = false
  let file: String
  let options: ReadingOptions
  private(set) var skipped = SkippedFaults()

  /// How many lists of events have been met.
  private(set) var listsMet = 0

  /// How many devices have had an event, and which of them the list is of that is being read.
  private var devicesMet = 0
  private var numberOfList: Int?

  /// The line that was read last.
  private(set) var line = 0

  /// Whether the report has the scan code that stands for all where keys were obfuscated.
  var hasScanCodeOfA = false

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
        guard options.isLenient, source.failure == nil, !isOtherVersion else {
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

extension LibinputParser {
  private func step() throws(RecordingError) -> Entry? {
    let part = try nextPart()
    line = part.mark.line
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
  ) throws(RecordingError) -> Entry? {
    let value = try nextPart()
    switch (place, key.text, value.kind) {
    case (.root, "version", _):
      guard value.kind == .scalar, value.text == "1" else {
        isOtherVersion = true
        throw fault("version '\(value.text)' of the format is not known; 1 is", value)
      }
    case (.root, "devices", .sequenceStart):
      isRecognized = true
      places.append(.list)
    case (_, "events", .sequenceStart): try enterEvents(value)
    case (_, "events", .scalar): isRecognized = true
    case (.item, "evdev", .sequenceStart):
      isRecognized = true
      places.append(.report)
    case (.item, "keymoded", _): return try takeNote(value)
    default: try skip(value)
    }
    return nil
  }

  private func enterEvents(_ value: EventStream.Event) throws(RecordingError) {
    isRecognized = true
    listsMet += 1
    numberOfList = nil
    places.append(.list)
  }

  /// The device whose events are being read: numbered when the first of them comes, since those
  /// without events may be many. Entries that no list surrounds are a fragment, of one device.
  var device: Int {
    if let number = numberOfList { return number }
    defer { devicesMet += 1 }
    numberOfList = devicesMet
    return devicesMet
  }

  private func leave() -> Entry? {
    guard places.popLast() == .report else { return nil }
    hasScanCodeOfA = false
    return .reportEnd(device: device)
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
  func skip(_ part: EventStream.Event) throws(RecordingError) -> Entry? {
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
    let place = error.byte.map { " at byte \($0)" } ?? ""
    guard isRecognized else {
      return RecordingError(
        "not a recording: \(error.message)\(place)", file: file, line: error.mark.line)
    }
    let isCutOff = yaml.hasReachedEnd
    let message = (isCutOff ? "the recording is cut off here: " : "") + error.message + place
    return RecordingError(message, file: file, line: error.mark.line)
  }

  func fault(_ message: String, _ part: EventStream.Event) -> RecordingError {
    RecordingError(message, file: file, line: part.mark.line)
  }
}
