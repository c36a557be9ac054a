import KeyboardModes

/// The inputs of one device, or of several, in an order.
protocol BatchStream: AnyObject {
  /// The next inputs; `nil` at the end. It reads no more of the file than the first of them needs,
  /// because a pipe may yield the rest much later.
  ///
  /// - Throws: at a fault, after all inputs before it have been returned.
  func next() throws(RecordingError) -> RecordedBatch?
}

/// The inputs of one recording.
protocol RecordingStream: BatchStream {
  /// The faults that were skipped.
  var skipped: SkippedFaults { get }

}

/// How a recording is read.
struct ReadingOptions {
  /// Whether faults are skipped and counted.
  var isLenient = false

  /// Takes warnings: what the user should know but what does not prevent reading.
  var warn: (RecordingError) -> Void = { _ in }
}

/// A recording in the order of the file.
final class EntryStream<Parser: EntryParser>: RecordingStream {
  private var reader: EntryReader<Parser>

  init(
    _ input: consuming InputReader, _ parser: Parser, _ interpreter: EntryInterpreter,
    _ options: ReadingOptions
  ) {
    reader = EntryReader(input, parser, interpreter, options)
  }

  var parser: Parser { reader.parser }
  var skipped: SkippedFaults { reader.skipped }
  func next() throws(RecordingError) -> RecordedBatch? { try reader.next() }
}

/// Reads a recording line by line, or record by record. It is a struct, so that the compiler need not
/// guard its properties for each line against other uses.
private struct EntryReader<Parser: EntryParser>: ~Copyable {
  var input: InputReader
  private(set) var parser: Parser
  private(set) var skipped = SkippedFaults()
  private var interpreter: EntryInterpreter
  private let options: ReadingOptions

  /// What was read behind the keys that were returned last.
  private var following: Result<RecordedInput, RecordingError>?
  private var hasEnded = false

  init(
    _ input: consuming InputReader, _ parser: Parser, _ interpreter: EntryInterpreter,
    _ options: ReadingOptions
  ) {
    self.input = input
    self.parser = parser
    self.interpreter = interpreter
    self.options = options
  }

  mutating func next() throws(RecordingError) -> RecordedBatch? {
    if let next = following.take() { return .input(try next.get()) }
    var keys: [KeyEvent] = []
    var device = DeviceID(order: 0)
    do throws(RecordingError) {
      while keys.count < RecordedBatch.capacity, let part = try nextPart(mayRead: keys.isEmpty) {
        guard let next = try interpret(part) else { continue }
        if case .key(let id, let key) = next.input, keys.isEmpty || id == device {
          keys.append(key)
          device = id
        } else if keys.isEmpty {
          return .input(next)
        } else {
          following = .success(next)
          break
        }
      }
      if keys.isEmpty { try end() }
    } catch {
      guard !keys.isEmpty else { throw error }
      following = .failure(error)
    }
    return keys.isEmpty ? nil : .keys(device, keys)
  }

  private mutating func nextPart(
    mayRead: Bool
  ) throws(RecordingError) -> InputReader.Part? {
    guard let size = parser.recordSize else { return try input.nextLine(mayRead: mayRead) }
    return try input.nextRecord(of: size, mayRead: mayRead)
  }

  private mutating func interpret(
    _ part: InputReader.Part
  ) throws(RecordingError) -> RecordedInput? {
    do throws(LineFault) {
      if part.kind == .tooLong { throw LineFault("not a line of text") }
      let entry = try parser.parse(part.bytes, isComplete: part.kind == .complete)
      if let warning = parser.warning { warn(warning) }
      guard let entry else { return nil }
      return try interpreter.take(entry)
    } catch {
      let hint = part.kind == .cutOff ? "the recording is cut off here: " : ""
      try skip(fault(hint + error.message), isFatal: error.isFatal)
      return nil
    }
  }

  private mutating func end() throws(RecordingError) {
    guard parser.isRecognized else { throw RecordingError("not a recording", file: input.name) }
    guard interpreter.isUnfinished, !hasEnded else { return }
    hasEnded = true
    try skip(fault("the recording is cut off here"))
  }

  private mutating func warn(_ warning: Warning) {
    parser.warning = nil
    options.warn(
      warning.isOfLine
        ? fault(warning.message) : RecordingError(warning.message, file: input.name))
  }

  private mutating func skip(
    _ fault: RecordingError, isFatal: Bool = false
  ) throws(RecordingError) {
    guard options.isLenient, !isFatal else { throw fault }
    skipped.add(fault)
  }

  /// A fault of the line or record that was read last.
  private func fault(_ message: String) -> RecordingError {
    parser.recordSize == nil
      ? RecordingError(message, file: input.name, line: input.number)
      : RecordingError("record \(input.number): \(message)", file: input.name)
  }
}
