import KeyboardModes

/// A recording of libinput in the order of time. The file has the events of one device after those of
/// another. So they are all kept, unless the file says that it is of one device.
final class LibinputStream: RecordingStream {
  private let file: EntryStream<LibinputParser>

  /// The devices, once all of the file has been read.
  private var devices: StreamMerge?

  /// The fault that ended reading, behind all events that are kept.
  private var fault: RecordingError?

  init(_ file: EntryStream<LibinputParser>) { self.file = file }

  var skipped: SkippedFaults { file.skipped }
  func next() throws(RecordingError) -> RecordedBatch? {
    if devices == nil {
      // The number of devices is written before the first of them.
      let first = try file.next()
      guard let first, !file.parser.isOfOneDevice else { return first }
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
        batch = try file.next()
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
