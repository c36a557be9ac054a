/// A recording of libinput, in the order of the file: device after device.
final class LibinputStream: RecordingStream {
  private var parser: LibinputParser
  private var interpreter: EntryInterpreter
  private var invalid = SkippedFaults()
  private var hasEnded = false

  /// Whether the recording says that it is of one device, and so is in the order of time.
  private let isOfOneDevice: Bool

  init(
    _ input: consuming InputReader, ofOneDevice isOfOneDevice: Bool, _ numbering: DeviceNumbering,
    file: String, _ options: ReadingOptions
  ) {
    self.isOfOneDevice = isOfOneDevice
    parser = LibinputParser(input, file: file, options)
    interpreter = EntryInterpreter(numbering)
  }

  var bytesTaken: Int { parser.reader.source.bytesTaken }

  var skipped: SkippedFaults {
    var all = parser.recovery.skipped
    all.add(invalid)
    return all
  }

  func next() throws(RecordingError) -> RecordedBatch? {
    if let batch = nextKeys() { return batch }
    while let entry = try parser.next() {
      do throws(LineFault) {
        guard !isOfOneDevice || parser.devices.lists <= 1 else {
          throw LineFault("events of a second device, but 'ndevices' is 1")
        }
        if let input = try interpreter.take(entry) { return .input(input) }
        if case .reportEnd = entry, let batch = nextKeys() { return batch }
      } catch {
        try skip(error.message)
      }
    }
    if interpreter.isUnfinished, !hasEnded {
      hasEnded = true
      try skip("the recording is cut off here")
    }
    return nil
  }

  /// The key events of the next reports, if the fast path can read them.
  private func nextKeys() -> RecordedBatch? {
    guard parser.options.hasFastPath, interpreter.isPlain,
      !isOfOneDevice || parser.devices.lists <= 1, let (events, device) = parser.nextKeys()
    else { return nil }
    return interpreter.batch(events, of: device)
  }

  private func skip(_ message: String) throws(RecordingError) {
    let fault = RecordingError(message, file: parser.file, line: parser.reader.line)
    try invalid.add(fault, parser.options)
  }
}
