import KeyboardModes

/// The inputs of one device, or of several, in an order.
protocol BatchStream: AnyObject {
  /// The next inputs; `nil` at the end. It reads no more of the file than the first of them needs,
  /// because a pipe may yield the rest much later.
  ///
  /// - Throws: at a fault, after all inputs before it have been returned.
  func next() throws(RecordingError) -> RecordedBatch?
}

/// How a recording is read.
struct ReadingOptions {
  /// Whether faults are skipped and counted.
  var isLenient = false

  /// Takes warnings: what the user should know but what does not prevent reading.
  var warn: (RecordingError) -> Void = { _ in }
}

/// The inputs of one recording, in the order of time.
///
/// A file of libinput has the events of one device after those of another. So they are all kept,
/// unless the file says that it is of one device.
final class RecordingStream: BatchStream {
  private var parser: any EntryParser
  private var reader: EntryReader

  /// The devices of a file that may be in another order, once all of it has been read.
  private var devices: StreamMerge?

  /// The fault that ended reading, behind all events that are kept.
  private var fault: RecordingError?

  init(
    _ input: consuming InputReader, _ parser: any EntryParser, _ interpreter: EntryInterpreter,
    _ options: ReadingOptions
  ) {
    self.parser = parser
    reader = EntryReader(input, recordSize: parser.recordSize, interpreter, options)
  }

  /// The faults that were skipped.
  var skipped: SkippedFaults { reader.skipped }

  func next() throws(RecordingError) -> RecordedBatch? {
    if devices == nil {
      // The number of devices is written before the first of them.
      let first = try parser.next(from: &reader)
      guard let first, !parser.isInOrder else { return first }
      devices = keep(from: first)
    }
    if let batch = try devices?.next() { return batch }
    if let fault { throw fault }
    return nil
  }

  /// Reads the rest of the file.
  private func keep(from first: RecordedBatch) -> StreamMerge {
    var kept: [DeviceID: [RecordedBatch]] = [:]
    var batch: RecordedBatch? = first
    while let next = batch {
      kept[next.device, default: []].append(next)
      do throws(RecordingError) {
        batch = try parser.next(from: &reader)
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
