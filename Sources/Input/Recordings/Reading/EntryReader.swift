import KeyboardModes

/// Reads a recording line by line, or record by record, in the order of the file.
struct EntryReader: ~Copyable {
  private var parts: PartReader
  /// The size of a record, in bytes; `nil` if the format has lines.
  private let recordSize: Int?
  private(set) var skipped = SkippedFaults()
  private var interpreter: EntryInterpreter
  private let isLenient: Bool

  /// The input or error that was read after the keys that were returned last.
  private var lookahead: Result<Controller.Input, RecordingError>?
  /// Whether a fault has reported that the file ends within a report of differences.
  private var isCutReported = false

  init(
    _ parts: consuming PartReader, recordSize: Int?, _ interpreter: EntryInterpreter,
    isLenient: Bool
  ) {
    self.parts = parts
    self.recordSize = recordSize
    self.interpreter = interpreter
    self.isLenient = isLenient
  }

  /// The next inputs of a recording in the format of `parser`; `nil` at the end.
  mutating func next(
    with parser: inout some EntryParser
  ) throws(RecordingError) -> RecordedBatch? {
    if let next = lookahead.take() { return .input(try next.get()) }
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
          lookahead = .success(next)
          break
        }
      }
      if keys.isEmpty { try end(parser) }
    } catch {
      guard !keys.isEmpty else { throw error }
      lookahead = .failure(error)
    }
    return keys.isEmpty ? nil : .keys(device, keys)
  }

  private mutating func nextPart(mayRead: Bool) throws(RecordingError) -> PartReader.Part? {
    guard let recordSize else { return try parts.nextLine(mayRead: mayRead) }
    return try parts.nextRecord(of: recordSize, mayRead: mayRead)
  }

  @inline(__always)
  private mutating func interpret(
    _ part: PartReader.Part, _ parser: inout some EntryParser
  ) throws(RecordingError) -> Controller.Input? {
    do throws(LineError) {
      // Even if the part can be parsed, the end of its last number may be missing.
      guard part.isComplete || isRemark(part) else {
        throw LineError("the recording is cut off here")
      }
      guard let entry = try parser.parse(part.bytes) else { return nil }
      return try interpreter.interpret(entry)
    } catch {
      try skip(error, of: part)
      return nil
    }
  }

  private mutating func end(_ parser: some EntryParser) throws(RecordingError) {
    guard parser.isRecognized else { throw RecordingError("not a recording", file: parts.name) }
    guard interpreter.isUnfinished, !isCutReported else { return }
    isCutReported = true
    try skip(fault("the recording is cut off here"))
  }

  /// Whether this is a comment or a blank line: if its end is missing, no entry is lost.
  @inline(never)
  private func isRemark(_ part: PartReader.Part) -> Bool {
    let first = part.bytes.withoutIndentation.first
    return recordSize == nil && (first == nil || first == UInt8(ascii: "#"))
  }

  @inline(never)
  private mutating func skip(
    _ error: LineError, of part: PartReader.Part
  ) throws(RecordingError) {
    // A terminal shows `^C` where Ctrl+C has ended the tool.
    if recordSize == nil, part.bytes.equals("^C") { return }
    try skip(fault(error.message), isFatal: error.isFatal)
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
      ? RecordingError(message, file: parts.name, line: parts.number)
      : RecordingError("record \(parts.number): \(message)", file: parts.name)
  }
}
