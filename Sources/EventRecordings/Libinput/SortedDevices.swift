import KeyboardModes
import SystemCalls

/// The devices of a recording that has their events one device after the other, stored so that they
/// can be read in parallel.
///
/// The inputs go to a temporary file, in records of one size. So the recording is read only once,
/// may come from a pipe, and needs little memory. The file has no name: no other program can open
/// it, and the kernel deletes it when the process ends.
final class SortedDevices {
  /// The range of bytes that each device has in the file.
  private(set) var ranges: [Range<Int>] = []

  /// The fault that ended reading, behind all stored inputs.
  let fault: RecordingError?

  /// The faults that were skipped.
  let skipped: SkippedFaults

  /// The temporary file.
  private let file: OpenFile

  /// The most devices; readers of more would need too much memory.
  private static let mostDevices = 256

  /// Reads a recording to its end.
  init(_ recording: LibinputStream, file name: String) throws(RecordingError) {
    let folder = environment("TMPDIR") ?? "/tmp"
    var fault: RecordingError?
    do throws(SystemError) {
      file = try OpenFile(keeping: name, in: folder)
      var records: [StoredInput] = []
      var size = 0
      while let batch = recording.next(&fault), ranges.count <= Self.mostDevices {
        for next in batch.inputs {
          let device = next.input.device?.order ?? 0
          while ranges.count <= device { ranges.append(size..<size) }
          let added = StoredInput.records(of: next)
          records += added
          size += added.count * StoredInput.size
          ranges[device] = ranges[device].lowerBound..<size
        }
        if records.count >= 2048 { try file.append(&records) }
      }
      try file.append(&records)
    } catch {
      throw RecordingError(
        "cannot write its events to a temporary file in '\(folder)': \(error.reason)", file: name)
    }
    guard ranges.count <= Self.mostDevices else {
      throw RecordingError("more than \(Self.mostDevices) devices with events", file: name)
    }
    self.fault = fault
    skipped = recording.skipped
  }

  /// The number of bytes of all devices.
  var size: Int { ranges.last?.upperBound ?? 0 }

  /// The inputs of one device, which are those of the device `id`.
  func stream(_ device: Int, _ id: DeviceID) -> any RecordingStream {
    let reader = InputReader(file, ranges[device], capacity: 100 * StoredInput.size)
    return SortedDeviceStream(reader, id)
  }
}

/// The inputs of one device of ``SortedDevices``.
private final class SortedDeviceStream: RecordingStream {
  private var input: InputReader
  private let id: DeviceID

  init(_ input: consuming InputReader, _ id: DeviceID) {
    self.input = input
    self.id = id
  }

  /// No faults: sorting the devices has counted them.
  var skipped: SkippedFaults { SkippedFaults() }
  var bytesTaken: Int { input.bytesTaken }

  func next() throws(RecordingError) -> RecordedBatch? {
    guard let head = try nextRecord() else { return nil }
    var keys: [StoredInput] = []
    for _ in 0..<head.count {
      guard let key = try nextRecord() else { return nil }
      keys.append(key)
    }
    return head.input(of: id, keys).map { .input($0) }
  }

  private func nextRecord() throws(RecordingError) -> StoredInput? {
    guard let bytes = try input.nextRecord(of: StoredInput.size), bytes.count == StoredInput.size
    else { return nil }
    return bytes.loadUnaligned(as: StoredInput.self)
  }
}
