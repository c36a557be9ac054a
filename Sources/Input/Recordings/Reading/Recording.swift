/// Reads one or more recordings from start to end.
///
/// Several files are several devices, or groups of devices, of one machine. Their inputs are merged
/// by time. If inputs have the same time, releases that a grab hid come first, and the others
/// follow in the order of the files.
///
/// The memory that this needs does not depend on the length of the recordings, with one exception:
/// a libinput recording of several devices is kept whole, because it has one device after another.
public struct Recording: ~Copyable {
  private let files: [RecordingStream]
  private var merge: StreamMerge

  /// Opens the recordings `paths`; `-` is standard input.
  ///
  /// - Parameters:
  ///   - format: the format of all files; `nil` to detect the format of each file.
  ///   - isLenient: whether faults are skipped and counted; see ``skipped``.
  ///   - warn: receives each warning once. A warning is about a problem that the user should know
  ///     of but that does not prevent reading.
  /// - Throws: if a file cannot be opened or read, or is in no known format.
  public init(
    opening paths: [String], format: RecordingFormat? = nil, isLenient: Bool = false,
    warn: @escaping (RecordingError) -> Void = { _ in }
  ) throws(RecordingError) {
    var warnings: Set<RecordingError> = []
    let warnOnce = { warning in if warnings.insert(warning).inserted { warn(warning) } }
    // Opens the files first: Swift 6.0 cannot throw once some properties of `self` are set.
    let files = try paths.indices.map { index throws(RecordingError) in
      try RecordingStream(
        paths[index], format, index: index, of: paths.count, isLenient: isLenient, warn: warnOnce)
    }
    self.files = files
    merge = StreamMerge(files)
  }

  /// The next inputs, all of one device; `nil` at the end. They are returned as soon as the first
  /// of them has been read, even if a pipe has no more yet.
  ///
  /// The devices of a file are numbered in the order of their first events.
  ///
  /// - Throws: at a fault, after all inputs before it have been returned. Of several files, each is
  ///   read to its own end or fault before the first fault is thrown.
  public mutating func next() throws(RecordingError) -> RecordedBatch? { try merge.next() }

  /// Throws unless all recordings are files: a pipe can be read only once.
  public func checkThatAllAreFiles() throws(RecordingError) {
    for file in files where file.size == nil {
      throw RecordingError(
        "must be a file, not a pipe, because keymoded reads it twice", file: file.name)
    }
  }

  /// Adds the format to the message of a fault, if the format was detected, or if the file looks
  /// like another format than the user named.
  public func explained(_ fault: RecordingError) -> RecordingError {
    guard let hint = files.first(where: { $0.name == fault.file })?.formatHint else { return fault }
    return RecordingError("\(fault.message) (\(hint))", file: fault.file, line: fault.line)
  }

  /// The names of the files from which no input has been read so far.
  public var unusedFiles: [String] { files.filter { !$0.isUsed }.map(\.name) }

  /// The faults that have been skipped so far.
  public var skipped: SkippedFaults {
    files.reduce(into: SkippedFaults()) { $0.add($1.skipped) }
  }
}
