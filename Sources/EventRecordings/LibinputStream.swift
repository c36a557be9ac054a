internal import KeyboardModes

/// A recording of libinput, device after device.
final class LibinputStream: RecordingStream {
  private let parser: LibinputParser
  private var interpreter: EntryInterpreter
  private let file: String
  private let options: ReadingOptions
  private var wrong = SkippedFaults()
  private var hasEnded = false

  /// Whether the recording says that it is of one device, and can be read as it comes.
  private let isOfOneDevice: Bool

  init(
    _ input: consuming InputReader, ofOneDevice isOfOneDevice: Bool, _ numbering: DeviceNumbering,
    file: String, _ options: ReadingOptions
  ) {
    self.isOfOneDevice = isOfOneDevice
    parser = LibinputParser(input, file: file, options)
    interpreter = EntryInterpreter(numbering)
    self.file = file
    self.options = options
  }

  var bytesTaken: Int { parser.bytesTaken }

  var skipped: SkippedFaults {
    var all = parser.skipped
    all.add(wrong)
    return all
  }

  func next() throws(RecordingError) -> RecordedInput? {
    while let entry = try parser.next() {
      do throws(LineFault) {
        guard !isOfOneDevice || parser.listsMet <= 1 else {
          throw LineFault("events of a second device, where 'ndevices' says that there is one")
        }
        if let input = try interpreter.take(entry) { return input }
      } catch {
        try passOver(error.message)
      }
    }
    if interpreter.isUnfinished, !hasEnded {
      hasEnded = true
      try passOver("the recording is cut off here")
    }
    return nil
  }

  private func passOver(_ message: String) throws(RecordingError) {
    let error = RecordingError(message, file: file, line: parser.line)
    guard options.isLenient else { throw error }
    wrong.add(error)
  }
}
