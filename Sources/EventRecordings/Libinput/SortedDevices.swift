internal import SystemCalls

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
  let file: FileDescriptor

  /// The most devices; readers of more would need too much memory.
  private static let mostDevices = 256

  /// Reads a recording to its end.
  init(_ stream: LibinputStream, file name: String) throws(RecordingError) {
    let folder = environment("TMPDIR") ?? "/tmp"
    var fault: RecordingError?
    do throws(SystemError) {
      file = try FileDescriptor.unnamed(in: folder)
      var buffer: [UInt8] = []
      var size = 0
      while let batch = stream.next(&fault), ranges.count <= Self.mostDevices {
        for next in batch.inputs {
          let device = next.input.device?.order ?? 0
          while ranges.count <= device { ranges.append(size..<size) }
          size += StoredInput.append(next, to: &buffer)
          ranges[device] = ranges[device].lowerBound..<size
        }
        if buffer.count >= 65536 { try SortedDevices.write(&buffer, to: file.number, folder) }
      }
      try SortedDevices.write(&buffer, to: file.number, folder)
    } catch {
      throw RecordingError("cannot be kept in \(folder): \(error.reason)", file: name)
    }
    guard ranges.count <= Self.mostDevices else {
      throw RecordingError("more than \(Self.mostDevices) devices with events", file: name)
    }
    self.fault = fault
    skipped = stream.skipped
  }

  /// The number of bytes of all devices.
  var size: Int { ranges.last?.upperBound ?? 0 }

  private static func write(
    _ buffer: inout [UInt8], to descriptor: Int32, _ folder: String
  ) throws(SystemError) {
    let result = buffer.withUnsafeBytes { bytes in
      Result { () throws(SystemError) in try writeAll(bytes, to: descriptor, folder) }
    }
    try result.get()
    buffer.removeAll(keepingCapacity: true)
  }
}
