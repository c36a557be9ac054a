/// One or more recordings that are being read, from start to end, in constant memory.
///
/// Several files are several devices, or groups of devices, of one machine: what they hold is merged
/// by time, and at the same time in the order of the files.
public struct Recording: ~Copyable {
  private let files: [OpenedRecording]
  private let options: ReadingOptions
  private var merge: StreamMerge

  /// Opens the recordings `paths`; `-` is standard input.
  ///
  /// - Parameters:
  ///   - format: the format of all; where none is given, each is found by content.
  ///   - isLenient: whether what is wrong is passed over and counted.
  ///   - warn: takes what the user should know but what keeps nothing from being read.
  public init(
    opening paths: [String], format: RecordingFormat? = nil, isLenient: Bool = false,
    warn: @escaping (RecordingError) -> Void = { _ in }
  ) throws(RecordingError) {
    let told = Told(warn)
    let options = ReadingOptions(isLenient: isLenient) { told.warn($0) }
    let files = try paths.map { path throws(RecordingError) in
      try OpenedRecording(path, format, options)
    }
    merge = StreamMerge(Recording.streams(files, options))
    (self.files, self.options) = (files, options)
  }

  /// The next input, or `nil` at the end. Devices are numbered in the order of their first event, or
  /// as the files have them.
  ///
  /// - Throws: at what is wrong. Where only the end is, because it was cut off, all events before it
  ///   have been returned.
  public mutating func next() throws(RecordingError) -> RecordedInput? {
    if let next = try merge.next() { return next }
    for file in files { if let fault = file.fault { throw fault } }
    return nil
  }

  /// Some of the key events that come next, where they can be had quickly. The inputs of these and
  /// those of ``next()``, asked in any order, are exactly those of ``next()`` alone; `nil` only says
  /// that it has to be asked.
  public mutating func nextKeys() -> KeyRun? { merge.nextKeys() }

  /// Goes back to the start.
  ///
  /// - Throws: where a recording is no file but a pipe, which can be read only once.
  public mutating func rewind() throws(RecordingError) {
    for file in files where !file.isRewindable {
      throw RecordingError("not a file that can be read twice", file: file.name)
    }
    merge = StreamMerge(Recording.streams(files, options))
  }

  /// A fault, with the format that its file was taken for, where the content decided that: perhaps it
  /// is in none, or in another.
  public func explained(_ fault: RecordingError) -> RecordingError {
    guard let format = files.first(where: { $0.name == fault.file })?.judgedFormat else {
      return fault
    }
    return RecordingError(
      "\(fault.message) (read as \(format.rawValue))", file: fault.file, line: fault.line)
  }

  /// What was wrong and passed over.
  public var skipped: SkippedFaults {
    var all = files.reduce(into: SkippedFaults()) { $0.add($1.skipped) }
    for stream in merge.streams { all.add(stream.skipped) }
    return all
  }

  /// How many bytes have been read, of all files.
  public var bytesRead: Int { merge.streams.reduce(0) { $0 + $1.bytesTaken } }

  /// How much of all that has to be read has been, from 0 to 1; `nil` where that is not known.
  public var shareRead: Double? {
    var size = 0
    for file in files {
      guard let known = file.size else { return nil }
      size += known
    }
    return size > 0 ? min(1, Double(bytesRead) / Double(size)) : nil
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

/// Passes each warning on once, however many readers come upon it.
private final class Told {
  private let tell: (RecordingError) -> Void
  private var warnings: Set<RecordingError> = []

  init(_ tell: @escaping (RecordingError) -> Void) { self.tell = tell }

  func warn(_ warning: RecordingError) {
    if warnings.insert(warning).inserted { tell(warning) }
  }
}
