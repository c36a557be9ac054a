internal import KeyboardModes
internal import SystemCalls

/// The inputs of one device of ``SortedDevices``.
final class SortedDeviceStream: RecordingStream {
  private let devices: SortedDevices
  private let range: Range<Int>
  private let id: DeviceID
  private let file: String
  private var offset: Int
  private var buffer: [UInt8] = []
  private var position = 0

  init(_ devices: SortedDevices, _ device: Int, _ id: DeviceID, file: String) {
    self.devices = devices
    range = devices.ranges[device]
    offset = range.lowerBound
    self.id = id
    self.file = file
  }

  /// No faults: sorting the devices has counted them.
  var skipped: SkippedFaults { SkippedFaults() }
  var bytesTaken: Int { offset - range.lowerBound }

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
    if position == buffer.count { try fill() }
    guard position < buffer.count else { return nil }
    defer { position += StoredInput.size }
    return buffer.withUnsafeBytes {
      $0.loadUnaligned(fromByteOffset: position, as: StoredInput.self)
    }
  }

  private func fill() throws(RecordingError) {
    position = 0
    buffer = [UInt8](repeating: 0, count: min(range.upperBound - offset, 100 * StoredInput.size))
    do throws(SystemError) {
      let result = buffer.withUnsafeMutableBytes { bytes in
        Result { () throws(SystemError) in try devices.file.read(at: offset, into: bytes) }
      }
      let count = try result.get()
      buffer.removeLast(buffer.count - count / StoredInput.size * StoredInput.size)
      offset += buffer.count
    } catch {
      throw RecordingError(error.reason, file: file)
    }
  }
}
