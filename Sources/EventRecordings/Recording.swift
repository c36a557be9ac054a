public import KeyboardModes
internal import SystemCalls

/// A recording that is being read, from start to end, in constant memory.
public struct Recording: ~Copyable {
  private var lines: LineReader
  private var parser = EvemuParser()
  private let file: String
  private let warn: (RecordingError) -> Void

  /// Opens the recording `file`; `-` is standard input.
  ///
  /// - Parameter warn: takes what the user should know but what keeps nothing from being read.
  public init(
    opening file: String, warn: @escaping (RecordingError) -> Void = { _ in }
  ) throws(RecordingError) {
    do throws(SystemError) {
      let descriptor =
        file == "-" ? try FileDescriptor.standardInput() : try FileDescriptor.opening(file)
      lines = LineReader(descriptor)
    } catch {
      throw RecordingError(error.reason, file: file)
    }
    self.file = file == "-" ? "<stdin>" : file
    self.warn = warn
  }

  /// The next key event, or `nil` at the end.
  ///
  /// - Throws: at a line that is wrong. Where only the last line is, because it was cut off, all
  ///   events before it have been returned.
  public mutating func next() throws(RecordingError) -> KeyEvent? {
    while let result = try nextLine() {
      if let warning = parser.takeWarning() {
        warn(RecordingError(warning, file: file, line: lines.number))
      }
      switch result {
      case .success(.some(let event)): return event
      case .success(nil): continue
      case .failure(let fault):
        throw RecordingError(fault.message, file: file, line: lines.number)
      }
    }
    guard parser.isRecognized else { throw RecordingError("not a recording", file: file) }
    return nil
  }

  /// Goes back to the start.
  ///
  /// - Throws: where the recording is no file but a pipe, which can be read only once.
  public mutating func rewind() throws(RecordingError) {
    do {
      try lines.rewind()
    } catch {
      throw RecordingError("not a file that can be read twice", file: file)
    }
    parser = EvemuParser()
  }

  private mutating func nextLine() throws(RecordingError) -> Result<KeyEvent?, LineFault>? {
    do throws(LineReaderError) {
      return try lines.next { line, isTerminated in
        Result { () throws(LineFault) in
          do throws(LineFault) {
            return try parser.parse(line, isTerminated: isTerminated)
          } catch {
            guard !isTerminated else { throw error }
            throw LineFault("the recording is cut off here: \(error.message)")
          }
        }
      }
    } catch {
      switch error {
      case .tooLong(let line): throw RecordingError("not a line of text", file: file, line: line)
      case .failed(let error): throw RecordingError(error.reason, file: file)
      }
    }
  }
}
