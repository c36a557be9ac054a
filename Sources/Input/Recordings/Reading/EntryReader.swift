import KeyboardModes

/// Reads a recording line by line, or record by record, in the order of the file.
struct EntryReader: ~Copyable {
  private var input: InputReader
  /// The size of a record, in bytes; `nil` if the format has lines.
  private let recordSize: Int?
  private(set) var skipped = SkippedFaults()
  private var interpreter: EntryInterpreter
  private let isLenient: Bool

  /// What was read after the keys that were returned last.
  private var following: Result<Controller.Input, RecordingError>?
  /// Whether it was already told that the file ends within a report of differences.
  private var hasEnded = false

  init(
    _ input: consuming InputReader, recordSize: Int?, _ interpreter: EntryInterpreter,
    isLenient: Bool
  ) {
    self.input = input
    self.recordSize = recordSize
    self.interpreter = interpreter
    self.isLenient = isLenient
  }

  /// The next inputs of a recording in the format of `parser`; `nil` at the end.
  mutating func next(
    with parser: inout some EntryParser
  ) throws(RecordingError) -> RecordedBatch? {
    if let next = following.take() { return .input(try next.get()) }
    var keys: [KeyEvent] = []
    var device = DeviceID(order: 0)
    do throws(RecordingError) {
      while keys.count < RecordedBatch.capacity,
        let part = try nextPart(mayRead: keys.isEmpty)
      {
        guard let next = try interpret(part, &parser) else { continue }
        if case .key(let id, let key) = next, keys.isEmpty || id == device {
          keys.append(key)
          device = id
        } else if keys.isEmpty {
          return .input(next)
        } else {
          following = .success(next)
          break
        }
      }
      if keys.isEmpty { try end(parser) }
    } catch {
      guard !keys.isEmpty else { throw error }
      following = .failure(error)
    }
    return keys.isEmpty ? nil : .keys(device, keys)
  }

  private mutating func nextPart(mayRead: Bool) throws(RecordingError) -> InputReader.Part? {
    guard let recordSize else { return try input.nextLine(mayRead: mayRead) }
    return try input.nextRecord(of: recordSize, mayRead: mayRead)
  }

  @inline(__always)
  private mutating func interpret(
    _ part: InputReader.Part, _ parser: inout some EntryParser
  ) throws(RecordingError) -> Controller.Input? {
    do throws(LineFault) {
      // Even if the part can be parsed, the end of its last number may be missing.
      guard part.isComplete || recordSize == nil && part.bytes.isRemark else {
        throw LineFault("the recording is cut off here")
      }
      guard let entry = try parser.parse(part.bytes) else { return nil }
      return try interpreter.take(entry)
    } catch {
      // What a terminal shows where Ctrl+C has ended the tool.
      guard recordSize != nil || !part.bytes.equals("^C") else { return nil }
      try skip(fault(error.message), isFatal: error.isFatal)
      return nil
    }
  }

  private mutating func end(_ parser: some EntryParser) throws(RecordingError) {
    guard parser.isRecognized else { throw RecordingError("not a recording", file: input.name) }
    guard interpreter.isUnfinished, !hasEnded else { return }
    hasEnded = true
    try skip(fault("the recording is cut off here"))
  }

  private mutating func skip(
    _ fault: RecordingError, isFatal: Bool = false
  ) throws(RecordingError) {
    guard isLenient, !isFatal else { throw fault }
    skipped.add(fault)
  }

  /// A fault of the line or record that was read last.
  private func fault(_ message: String) -> RecordingError {
    recordSize == nil
      ? RecordingError(message, file: input.name, line: input.number)
      : RecordingError("record \(input.number): \(message)", file: input.name)
  }
}

extension UnsafeRawBufferPointer {
  /// Whether a line is a comment or blank: then nothing is lost if its end is.
  fileprivate var isRemark: Bool {
    var fields = Fields(self)
    fields.skipSpace()
    return !fields.hasMore || fields.skip(UInt8(ascii: "#"))
  }
}
