public import SystemCalls

/// Reads one or more recordings from start to end, in constant memory.
///
/// Several files are several devices, or groups of devices, of one machine. Their inputs are merged
/// by time; inputs with the same time keep the order of the files.
public struct Recording: ~Copyable {
  private let files: [OpenedRecording]
  private let options: ReadingOptions
  private var merge: StreamMerge

  /// Opens the recordings `paths`; `-` is standard input.
  ///
  /// - Parameters:
  ///   - format: the format of all files; `nil` to detect that of each by its content.
  ///   - isLenient: whether faults are skipped and counted; see ``skipped``.
  ///   - warn: takes warnings: what the user should know but what does not prevent reading. It gets
  ///     each warning once.
  /// - Throws: if a file cannot be opened or read.
  public init(
    opening paths: [FilePath], format: RecordingFormat? = nil, isLenient: Bool = false,
    warn: @escaping (RecordingError) -> Void = { _ in }
  ) throws(RecordingError) {
    var warnings: Set<RecordingError> = []
    let options = ReadingOptions(isLenient: isLenient) { warning in
      if warnings.insert(warning).inserted { warn(warning) }
    }
    try self.init(opening: paths, format: format, options)
  }

  /// Opens the recordings whose paths are these texts, like the other initializer.
  public init(
    opening paths: [String], format: RecordingFormat? = nil, isLenient: Bool = false,
    warn: @escaping (RecordingError) -> Void = { _ in }
  ) throws(RecordingError) {
    try self.init(
      opening: paths.map { FilePath($0) }, format: format, isLenient: isLenient, warn: warn)
  }

  init(
    opening paths: [String], format: RecordingFormat?, _ options: ReadingOptions
  ) throws(RecordingError) {
    try self.init(opening: paths.map { FilePath($0) }, format: format, options)
  }

  init(
    opening paths: [FilePath], format: RecordingFormat?, _ options: ReadingOptions
  ) throws(RecordingError) {
    files = try paths.map { path throws(RecordingError) in
      try OpenedRecording(path, format, options)
    }
    self.options = options
    merge = StreamMerge(Recording.streams(files, options))
  }

  /// The next inputs, all of one device; `nil` at the end. They are returned as soon as the first
  /// of them has been read, even if a pipe has no more yet.
  ///
  /// Devices are numbered in the order of their first events, or as the files number them.
  ///
  /// - Throws: at a fault, after all inputs before it have been returned. Of several files, each is
  ///   read to its own end or fault before the first fault is thrown.
  public mutating func next() throws(RecordingError) -> RecordedBatch? {
    if let next = try merge.next() { return next }
    for file in files { if let fault = file.devices?.fault { throw fault } }
    return nil
  }

  /// Goes back to the start.
  ///
  /// - Throws: if a recording is not a file but a pipe, which can be read only once.
  public mutating func rewind() throws(RecordingError) {
    for opened in files where opened.file.size == nil {
      throw RecordingError(
        "must be a file, not a pipe, because keymoded reads it twice", file: opened.file.name)
    }
    merge = StreamMerge(Recording.streams(files, options))
  }

  /// The same fault, with the detected format of its file in the message, because detection may
  /// have been wrong. If the user named the format, the message stays as it is. Of a file that is
  /// like no format, its first fault says nothing.
  public func explained(_ fault: RecordingError) -> RecordingError {
    guard let file = files.first(where: { $0.file.name == fault.file }),
      let format = file.detectedFormat
    else { return fault }
    if file.isUnknown {
      return RecordingError(
        "not a recording in a known format (\(RecordingFormat.names))", file: fault.file)
    }
    return RecordingError(
      "\(fault.message) (read as \(format.rawValue))", file: fault.file, line: fault.line)
  }

  /// The faults that were skipped so far.
  public var skipped: SkippedFaults {
    (files.compactMap { $0.devices?.skipped } + merge.streams.map(\.skipped))
      .reduce(into: SkippedFaults()) { $0.add($1) }
  }

  /// How many bytes of all files have been read.
  public var bytesRead: Int { merge.streams.reduce(0) { $0 + $1.bytesTaken } }

  /// The share of all bytes that has been read, from 0 to 1; `nil` if the total is not known.
  public var shareRead: Double? {
    let sizes = files.compactMap(\.size)
    let total = sizes.reduce(0, +)
    guard sizes.count == files.count, total > 0 else { return nil }
    return min(1, Double(bytesRead) / Double(total))
  }

  private static func streams(
    _ files: [OpenedRecording], _ options: ReadingOptions
  ) -> [any RecordingStream] {
    let count = files.reduce(0) { $0 + $1.streamCount }
    return files.reduce(into: []) { streams, file in
      streams += file.streams(from: streams.count, of: count, options)
    }
  }
}
