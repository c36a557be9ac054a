import KeyboardModes
import Terminal

/// Yields the inputs of one device, or of several in the order of time.
protocol BatchStream: AnyObject {
  /// The next inputs; `nil` at the end. Reads no more of the file than the first input needs,
  /// because a pipe may yield the rest much later.
  ///
  /// - Throws: at a fault, after all inputs before it have been returned.
  func next() throws(RecordingError) -> RecordedBatch?
}

/// The inputs of one file, in the order of time.
///
/// A file of libinput has all events of one device before the events of the next device. So all its
/// events are kept, unless the file says that it has only one device.
final class RecordingStream: BatchStream {
  /// The file's name in messages: its path, or `<stdin>`.
  let name: String

  /// The size in bytes; `nil` for standard input and pipes, which can be read only once.
  let size: Int?

  /// A hint for messages that tells the format; `nil` if the user named the format and the content
  /// does not look like another.
  let formatHint: String?

  private let warn: (RecordingError) -> Void
  private var parser: any EntryParser
  private var reader: EntryReader

  /// The merge of the devices of a file that is not in order; `nil` until the whole file is read.
  private var deviceMerge: StreamMerge?

  /// Whether an input was read.
  private(set) var isUsed = false

  /// The fault that ended reading; it is thrown after the inputs that are kept.
  private var fault: RecordingError?

  /// Opens the file at `path`; `-` is standard input.
  ///
  /// - Parameters:
  ///   - format: its format; `nil` to detect it.
  ///   - index: its index among the files of the recording.
  ///   - isLenient: whether faults are skipped and counted.
  ///   - warn: receives warnings, possibly the same warning several times.
  init(
    _ path: String, _ format: RecordingFormat?, index: Int, of files: Int, isLenient: Bool,
    warn: @escaping (RecordingError) -> Void
  ) throws(RecordingError) {
    // Calls that may throw come first: Swift 6.0 cannot throw once some properties are set.
    var parts = try PartReader(path)
    let isBinary = format?.parser.recordSize != nil
    let start = try parts.peek {
      RecordingFormat.canDetect(from: $0) || isBinary && $0.count >= RawParser.size64
    }
    let detected = RecordingFormat(of: start)
    if !isBinary, detected == nil, let fault = encodingFault(of: start) {
      throw RecordingError(fault, file: parts.name)
    }
    guard let used = format ?? detected else {
      throw RecordingError(
        "not a recording in a known format (\(RecordingFormat.names))", file: parts.name)
    }
    if used.parser.recordSize == nil { try parts.skipByteOrderMark() }
    (name, size, self.warn) = (parts.name, parts.size, warn)
    let other = detected == used ? "" : detected.map { ", but it looks like \($0.rawValue)" }
    formatHint = format == detected ? nil : other.map { "read as \(used.rawValue)\($0)" }
    parser = used.parser
    reader = EntryReader(
      parts, recordSize: parser.recordSize, EntryInterpreter(file: index, of: files, used),
      isLenient: isLenient)
  }

  /// The faults that were skipped.
  var skipped: SkippedFaults { reader.skipped }

  func next() throws(RecordingError) -> RecordedBatch? {
    if deviceMerge == nil {
      // With the first input, `isInOrder` is known: a file says at its top how many devices it has.
      let first = try read()
      guard let first, !parser.isInOrder else { return first }
      deviceMerge = mergeDevices(from: first)
    }
    if let batch = try deviceMerge?.next() { return batch }
    if let fault { throw fault }
    return nil
  }

  /// The next inputs in the order of the file.
  private func read() throws(RecordingError) -> RecordedBatch? {
    defer {
      if let warning = parser.warning { warn(RecordingError(warning, file: name)) }
    }
    let batch = try parser.next(from: &reader)
    isUsed = isUsed || batch != nil
    return batch
  }

  /// Reads the rest of the file, and returns a merge of its devices.
  private func mergeDevices(from first: RecordedBatch) -> StreamMerge {
    var kept: [DeviceID: [RecordedBatch]] = [:]
    var batch: RecordedBatch? = first
    while let next = batch {
      kept[next.device, default: []].append(next)
      do throws(RecordingError) {
        batch = try read()
      } catch {
        fault = error
        batch = nil
      }
    }
    return StreamMerge(kept.sorted { $0.key < $1.key }.map { KeptStream($0.value) })
  }
}

/// The inputs of one device, in memory.
private final class KeptStream: BatchStream {
  private var rest: ArraySlice<RecordedBatch>

  init(_ batches: [RecordedBatch]) { rest = batches[...] }

  func next() -> RecordedBatch? { rest.popFirst() }
}
