public import KeyboardModes
internal import SystemCalls

/// A recording that is being read, from start to end, in constant memory.
public struct Recording: ~Copyable {
  private var input: InputReader
  private var filters: [KeyEventFilter] = []

  /// Reads the lines of a format of text; `nil` where the recording is made of raw records.
  private var parser: (any LineParser)?
  private let format: RecordingFormat
  private let file: String
  private let warn: (RecordingError) -> Void

  /// Opens the recording `file`; `-` is standard input.
  ///
  /// - Parameters:
  ///   - format: the format; where none is given, it is found by content.
  ///   - warn: takes what the user should know but what keeps nothing from being read.
  public init(
    opening file: String, format: RecordingFormat? = nil,
    warn: @escaping (RecordingError) -> Void = { _ in }
  ) throws(RecordingError) {
    let name = file == "-" ? "<stdin>" : file
    var input: InputReader
    do throws(SystemError) {
      input = InputReader(
        file == "-" ? try FileDescriptor.standardInput() : try FileDescriptor.opening(file))
    } catch {
      throw RecordingError(error.reason, file: name)
    }
    do throws(InputReaderError) {
      self.format = if let format { format } else { try input.peek { RecordingFormat(of: $0) } }
    } catch {
      throw Recording.error(error, name)
    }
    parser = Recording.parser(self.format)
    self.input = input
    self.file = name
    self.warn = warn
  }

  /// The next key event and the device that it is of, or `nil` at the end. Devices are numbered in the
  /// order of their first event.
  ///
  /// - Throws: at what is wrong. Where only the end is, because it was cut off, all events before it
  ///   have been returned.
  public mutating func next() throws(RecordingError) -> (device: DeviceID, event: KeyEvent)? {
    while let result = try nextEvent() {
      if let warning = parser?.takeWarning() { warn(error(warning)) }
      do throws(LineFault) {
        guard let event = try result.get() else { continue }
        while filters.count <= event.device { filters.append(KeyEventFilter()) }
        guard let key = try filters[event.device].take(event) else { continue }
        return (DeviceID(order: event.device), key)
      } catch {
        throw self.error(error.message)
      }
    }
    guard parser?.isRecognized != false else {
      throw RecordingError("not a recording", file: file)
    }
    return nil
  }

  /// Goes back to the start.
  ///
  /// - Throws: where the recording is no file but a pipe, which can be read only once.
  public mutating func rewind() throws(RecordingError) {
    do {
      try input.rewind()
    } catch {
      throw RecordingError("not a file that can be read twice", file: file)
    }
    parser = Recording.parser(format)
    filters = []
  }

  private static func parser(_ format: RecordingFormat) -> (any LineParser)? {
    switch format {
    case .evemu: EvemuParser()
    case .evtest: EvtestParser()
    case .getevent: GeteventParser()
    case .raw64, .raw32: nil
    }
  }

  private mutating func nextEvent() throws(RecordingError) -> Result<InputEvent?, LineFault>? {
    do throws(InputReaderError) {
      return parser == nil ? try nextRecord() : try nextLine()
    } catch {
      throw Recording.error(error, file)
    }
  }

  private mutating func nextLine() throws(InputReaderError) -> Result<InputEvent?, LineFault>? {
    try input.nextLine { line, isTerminated in
      Result { () throws(LineFault) in
        do throws(LineFault) {
          return try parser?.parse(line, isTerminated: isTerminated)
        } catch {
          guard !isTerminated else { throw error }
          throw LineFault("the recording is cut off here: \(error.message)")
        }
      }
    }
  }

  private mutating func nextRecord() throws(InputReaderError) -> Result<InputEvent?, LineFault>? {
    let size = format == .raw64 ? RawRecord.size64 : RawRecord.size32
    return try input.nextRecord(of: size) { bytes in
      Result { () throws(LineFault) in
        guard bytes.count == size else {
          throw LineFault("the recording is cut off here: \(bytes.count) bytes of \(size)")
        }
        return try RawRecord.event(bytes)
      }
    }
  }

  /// What is wrong with the line or record last read.
  private func error(_ message: String) -> RecordingError {
    guard parser == nil else { return RecordingError(message, file: file, line: input.number) }
    return RecordingError("record \(input.number): \(message)", file: file)
  }

  private static func error(_ error: InputReaderError, _ file: String) -> RecordingError {
    switch error {
    case .tooLong(let line): RecordingError("not a line of text", file: file, line: line)
    case .failed(let error): RecordingError(error.reason, file: file)
    }
  }
}
