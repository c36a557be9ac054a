internal import KeyboardModes
internal import SystemCalls

/// The devices of a recording that has them one after the other, kept such that they can be read side
/// by side.
///
/// What happened to each is written to a file without a name, in records of one size, so that the
/// recording itself is read only once, may come from a pipe, and takes little memory. What was recorded
/// is nobody else's business: nobody else can open the file, and it is gone when this process is.
final class SortedDevices {
  /// Which bytes of the file each device has.
  private(set) var ranges: [Range<Int>] = []

  /// What is wrong with the recording, behind all that was kept of it.
  let fault: RecordingError?

  /// What is wrong and was passed over.
  let skipped: SkippedFaults

  private let file: FileDescriptor

  /// Readers of more devices at a time would take too much memory.
  private static let mostDevices = 256

  /// Reads a recording through.
  init(_ stream: LibinputStream, file name: String) throws(RecordingError) {
    let folder = environment("TMPDIR") ?? "/tmp"
    var fault: RecordingError?
    do throws(SystemError) {
      file = try FileDescriptor.unnamed(in: folder)
      var buffer: [UInt8] = []
      var size = 0
      while let next = SortedDevices.next(stream, &fault), ranges.count <= Self.mostDevices {
        let device = next.input.device?.order ?? 0
        while ranges.count <= device { ranges.append(size..<size) }
        size += StoredInput.append(next, to: &buffer)
        ranges[device] = ranges[device].lowerBound..<size
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

  /// How many bytes all devices have.
  var size: Int { ranges.last?.upperBound ?? 0 }

  /// Reads what stands at `offset`.
  func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
    try file.read(at: offset, into: buffer)
  }

  private static func write(
    _ buffer: inout [UInt8], to descriptor: Int32, _ folder: String
  ) throws(SystemError) {
    let result = buffer.withUnsafeBytes { bytes in
      Result { () throws(SystemError) in try writeAll(bytes, to: descriptor, folder) }
    }
    try result.get()
    buffer.removeAll(keepingCapacity: true)
  }

  private static func next(
    _ stream: LibinputStream, _ fault: inout RecordingError?
  ) -> RecordedInput? {
    do throws(RecordingError) {
      return try stream.next()
    } catch {
      fault = error
      return nil
    }
  }
}

/// One of the devices.
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

  /// All of them were passed over when the devices were sorted.
  var skipped: SkippedFaults { SkippedFaults() }
  var bytesTaken: Int { offset - range.lowerBound }

  func next() throws(RecordingError) -> RecordedInput? {
    guard let head = try nextRecord() else { return nil }
    var keys: [StoredInput] = []
    for _ in 0..<head.count {
      guard let key = try nextRecord() else { return nil }
      keys.append(key)
    }
    return head.input(of: id, keys)
  }

  private func nextRecord() throws(RecordingError) -> StoredInput? {
    if position == buffer.count { try fill() }
    guard position < buffer.count else { return nil }
    defer { position += StoredInput.size }
    return buffer.withUnsafeBytes {
      StoredInput(UnsafeRawBufferPointer(rebasing: $0[position..<position + StoredInput.size]))
    }
  }

  private func fill() throws(RecordingError) {
    position = 0
    buffer = [UInt8](repeating: 0, count: min(range.upperBound - offset, 100 * StoredInput.size))
    let start = offset
    let result: Result<Int, SystemError> = buffer.withUnsafeMutableBytes { bytes in
      Result { () throws(SystemError) in try devices.read(at: start, into: bytes) }
    }
    do throws(SystemError) {
      let count = try result.get()
      // The file is ours alone, so what was written is there.
      buffer.removeLast(buffer.count - count / StoredInput.size * StoredInput.size)
      offset += buffer.count
    } catch {
      throw RecordingError(error.reason, file: file)
    }
  }
}

/// A ``RecordedInput`` in records of one size: the first says what it is, and those of keys follow.
struct StoredInput {
  static let size = 24

  private enum Kind: UInt16 {
    case held, key, synchronized, gone, member
  }

  private let kind: Kind
  private let time: Int64
  private let code: UInt16
  private let value: Int32

  /// How many records of keys follow.
  let count: Int32

  private init(_ kind: Kind, _ time: Time?, code: UInt16 = 0, value: Int32 = 0, count: Int = 0) {
    self.kind = kind
    self.time = time?.microseconds ?? .min
    self.code = code
    self.value = value
    self.count = Int32(count)
  }

  init?(_ bytes: UnsafeRawBufferPointer) {
    guard let kind = Kind(rawValue: bytes.loadUnaligned(as: UInt16.self)) else { return nil }
    self.kind = kind
    code = bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)
    value = bytes.loadUnaligned(fromByteOffset: 4, as: Int32.self)
    time = bytes.loadUnaligned(fromByteOffset: 8, as: Int64.self)
    count = bytes.loadUnaligned(fromByteOffset: 16, as: Int32.self)
  }

  private func append(to buffer: inout [UInt8]) {
    withUnsafeBytes(of: (kind.rawValue, code, value, time, count, Int32(0))) {
      buffer.append(contentsOf: $0)
    }
  }

  /// - Returns: how many bytes were appended.
  static func append(_ next: RecordedInput, to buffer: inout [UInt8]) -> Int {
    let before = buffer.count
    switch next.input {
    case .opened(_, let held):
      StoredInput(.held, next.time, count: held.count).append(to: &buffer)
      for key in held { StoredInput(.member, nil, code: key.number).append(to: &buffer) }
    case .key(_, let event):
      StoredInput(.key, event.time, code: event.key.number, value: event.action.rawValue)
        .append(to: &buffer)
    case .synchronized(_, let found, let time):
      StoredInput(.synchronized, time, count: found.count).append(to: &buffer)
      for difference in found {
        StoredInput(.member, nil, code: difference.key.number, value: difference.isDown ? 1 : 0)
          .append(to: &buffer)
      }
    case .gone: StoredInput(.gone, next.time).append(to: &buffer)
    case .client, .configured: break  // no recording holds what programs or people decided
    }
    return buffer.count - before
  }

  func input(of device: DeviceID, _ keys: [StoredInput]) -> RecordedInput? {
    let recorded = time == .min ? nil : Time(microseconds: time)
    let at = Time(microseconds: time)
    switch kind {
    case .held:
      return RecordedInput(time: recorded, input: .opened(device, held: keys.compactMap(\.key)))
    case .key:
      guard let key, let action = KeyEvent.Action(rawValue: value) else { return nil }
      let event = KeyEvent(time: at, key: key, action: action)
      return RecordedInput(time: at, input: .key(device, event))
    case .synchronized:
      let found = keys.compactMap { stored in
        stored.key.map { KeyDifference(key: $0, isDown: stored.value != 0) }
      }
      return RecordedInput(time: at, input: .synchronized(device, found, at: at))
    case .gone: return RecordedInput(time: recorded, input: .gone(device))
    case .member: return nil
    }
  }

  private var key: KeyCode? { KeyCode(code) }
}
