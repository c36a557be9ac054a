internal import KeyboardModes

/// A recording in a text format, read line by line.
final class LineStream<Parser: LineParser>: RecordingStream {
  private var input: InputReader
  private var parser: Parser
  private var interpreter: EntryInterpreter
  private let file: String
  private let options: ReadingOptions
  private(set) var skipped = SkippedFaults()
  private var hasEnded = false

  init(
    _ input: consuming InputReader, _ parser: Parser, _ numbering: DeviceNumbering, file: String,
    _ options: ReadingOptions
  ) {
    self.input = input
    self.parser = parser
    interpreter = EntryInterpreter(numbering)
    self.file = file
    self.options = options
  }

  var bytesTaken: Int { input.bytesTaken }

  func next() throws(RecordingError) -> RecordedBatch? {
    if Parser.hasRegularLines, options.hasFastPath, interpreter.isPlain,
      let events = input.nextKeys({ parser.parseRegular($0, into: $1) })
    {
      return interpreter.batch(events)
    }
    while let (line, isTerminated) = try nextLine() {
      do throws(LineFault) {
        if let input = try interpret(line, isTerminated) { return .input(input) }
      } catch {
        try skip(error.message)
      }
      if let warning = parser.takeWarning() { options.warn(fault(warning)) }
    }
    guard parser.isRecognized else { throw RecordingError("not a recording", file: file) }
    if interpreter.isUnfinished || parser.isUnfinished, !hasEnded {
      hasEnded = true
      try skip("the recording is cut off here")
    }
    return nil
  }

  private func nextLine() throws(RecordingError) -> (UnsafeRawBufferPointer, isTerminated: Bool)? {
    while true {
      do throws(InputReaderError) {
        return try input.nextLine()
      } catch {
        let fault = RecordingError(error, file: file)
        guard case .tooLong = error, options.isLenient else { throw fault }
        skipped.add(fault)
      }
      do throws(InputReaderError) {
        try input.skipLine()
      } catch {
        throw RecordingError(error, file: file)
      }
    }
  }

  private func interpret(
    _ line: UnsafeRawBufferPointer, _ isTerminated: Bool
  ) throws(LineFault) -> RecordedInput? {
    do throws(LineFault) {
      guard let entry = try parser.parse(line, isTerminated: isTerminated) else { return nil }
      return try interpreter.take(entry)
    } catch {
      guard !isTerminated else { throw error }
      throw LineFault("the recording is cut off here: \(error.message)")
    }
  }

  /// Skips a fault of the line that was read last, or throws it.
  private func skip(_ message: String) throws(RecordingError) {
    guard options.isLenient else { throw fault(message) }
    skipped.add(fault(message))
  }

  private func fault(_ message: String) -> RecordingError {
    RecordingError(message, file: file, line: input.number)
  }
}
