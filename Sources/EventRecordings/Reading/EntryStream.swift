import KeyboardModes

/// A recording that is read line by line, or record by record.
final class EntryStream<Parser: EntryParser>: RecordingStream {
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
      let (events, device) = input.nextKeys({ parser.parseRegular($0, into: $1) })
    {
      return interpreter.batch(events, of: device)
    }
    while let (line, isTerminated) = try nextLine() {
      do throws(LineFault) {
        if let input = try interpret(line, isTerminated) { return .input(input) }
      } catch {
        try skip(fault(error.message))
      }
    }
    guard parser.isRecognized else { throw RecordingError("not a recording", file: file) }
    if interpreter.isUnfinished || parser.isUnfinished, !hasEnded {
      hasEnded = true
      try skip(fault("the recording is cut off here"))
    }
    return nil
  }

  private func nextLine() throws(RecordingError) -> (UnsafeRawBufferPointer, isTerminated: Bool)? {
    guard let size = parser.recordSize else {
      // Nearly all lines are whole and in memory.
      if let line = input.nextWholeLine() { return (line, true) }
      return try input.nextLine(skippingLong: skip)
    }
    return try input.nextRecord(of: size).map { ($0, $0.count == size) }
  }

  private func interpret(
    _ line: UnsafeRawBufferPointer, _ isTerminated: Bool
  ) throws(LineFault) -> RecordedInput? {
    do throws(LineFault) {
      guard let entry = try parser.parse(line, isTerminated: isTerminated) else { return nil }
      if case .warning(let message) = entry { options.warn(fault(message)) }
      return try interpreter.take(entry)
    } catch {
      guard !isTerminated else { throw error }
      throw LineFault("the recording is cut off here: \(error.message)")
    }
  }

  private func skip(_ fault: RecordingError) throws(RecordingError) {
    try skipped.add(fault, options)
  }

  /// A fault of the line or record that was read last.
  private func fault(_ message: String) -> RecordingError {
    parser.recordSize == nil
      ? RecordingError(message, file: file, line: input.number)
      : RecordingError("record \(input.number): \(message)", file: file)
  }
}
