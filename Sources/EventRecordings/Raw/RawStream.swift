import KeyboardModes

/// A recording of raw `struct input_event`, read record by record.
final class RawStream: RecordingStream {
  private var input: InputReader
  private var interpreter: EntryInterpreter
  private let size: Int
  private let file: String
  private let options: ReadingOptions
  private(set) var skipped = SkippedFaults()

  init(
    _ input: consuming InputReader, size: Int, _ numbering: DeviceNumbering, file: String,
    _ options: ReadingOptions
  ) {
    self.input = input
    interpreter = EntryInterpreter(numbering)
    self.size = size
    self.file = file
    self.options = options
  }

  var bytesTaken: Int { input.bytesTaken }

  func next() throws(RecordingError) -> RecordedBatch? {
    if options.hasFastPath, interpreter.isPlain,
      let events = input.nextKeys({ [size] in RawRecord.parseRegular($0, size: size, into: $1) })
    {
      return interpreter.batch(events)
    }
    while let bytes = try input.nextRecord(of: size) {
      do throws(LineFault) {
        guard bytes.count == size else {
          throw LineFault("the recording is cut off here: \(bytes.count) bytes of \(size)")
        }
        if let input = try interpreter.take(.event(try RawRecord.event(bytes))) {
          return .input(input)
        }
      } catch {
        let message = "record \(input.number): \(error.message)"
        try skipped.add(RecordingError(message, file: file), options)
      }
    }
    return nil
  }
}
