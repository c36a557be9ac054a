import Evdev
import EventRecordings
import Glibc
import SystemCalls

/// A recording that is being written. A file of its own holds at any time only what is whole.
///
/// In libinput's format each device has a list of its own. The first is written as it grows; the
/// others grow in files without a name, and are added at the end.
final class RecordingFile {
  private struct Section {
    var writer: any RecordingWriter
    var text = ""
    /// Where the device's list grows; that of the first device is the recording itself.
    var list: AppendedFile
    let heading: String
  }

  private var sections: [Section] = []

  /// Makes the file, or uses standard output where none is named, and writes what stands before the
  /// events.
  ///
  /// - Throws: where there is such a file already: no recording is ever written over.
  init(
    _ path: String?, _ format: WrittenFormat, _ devices: [DeviceDescription], remarks: [String],
    tell: () -> Void
  ) throws(SystemError) {
    let output =
      if let path { try AppendedFile(creating: path) } else { try AppendedFile.standardOutput() }
    tell()
    for device in devices {
      switch format {
      case .evemu:
        sections.append(Section(writer: EvemuWriter(), list: output, heading: ""))
        try output.append(EvemuWriter.header(device, remarks: remarks))
      case .libinput:
        let isFirst = sections.isEmpty
        let list = isFirst ? output : try AppendedFile.temporary()
        let heading = LibinputWriter.section(device)
        sections.append(Section(writer: LibinputWriter(), list: list, heading: heading))
        guard isFirst else { continue }
        try output.append(LibinputWriter.header(devices: devices.count, remarks: remarks) + heading)
      }
    }
  }

  /// Adds a report of the device that was given as number `section`, from 0.
  func write(_ report: Report, _ section: Int) throws(SystemError) {
    sections[section].text += sections[section].writer.text(of: report)
  }

  /// Writes out what was added.
  func flush() throws(SystemError) {
    for place in sections.indices where !sections[place].text.isEmpty {
      try sections[place].list.append(sections[place].text)
      sections[place].text = ""
    }
  }

  /// Adds the lists of the other devices.
  func finish() throws(SystemError) {
    guard let output = sections.first?.list else { return }
    for section in sections.dropFirst() {
      try output.append(section.heading)
      try section.list.forEachPart { part throws(SystemError) in try output.append(part) }
    }
  }
}

/// A file that only grows, by whole pieces: of one that does not fit any more, nothing stays.
final class AppendedFile {
  private let descriptor: FileDescriptor
  private let name: String
  private let isOwn: Bool
  private var size = 0

  private init(_ descriptor: consuming FileDescriptor, _ name: String, isOwn: Bool) {
    self.descriptor = descriptor
    self.name = name
    self.isOwn = isOwn
  }

  /// A new file at `path`, which only its owner can read.
  convenience init(creating path: String) throws(SystemError) {
    let descriptor: FileDescriptor
    do {
      descriptor = try FileDescriptor.opening(path, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
    } catch {
      throw SystemError("create", path, code: error.code)
    }
    self.init(descriptor, path, isOwn: true)
  }

  static func standardOutput() throws(SystemError) -> AppendedFile {
    let number = try retrying("write", "standard output") {
      fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
    }
    return AppendedFile(FileDescriptor(owning: number), "standard output", isOwn: false)
  }

  /// A file without a name.
  static func temporary() throws(SystemError) -> AppendedFile {
    let folder = environment("TMPDIR") ?? "/tmp"
    return AppendedFile(try FileDescriptor.unnamed(in: folder), folder, isOwn: true)
  }

  /// Adds all of `text`, or nothing.
  func append(_ text: String) throws(SystemError) {
    var text = text
    let result = text.withUTF8 { bytes in
      Result { () throws(SystemError) in
        try writeAll(UnsafeRawBufferPointer(bytes), to: descriptor.number, name)
      }
    }
    do throws(SystemError) {
      try result.get()
      size += text.utf8.count
    } catch {
      if isOwn { _ = ftruncate(descriptor.number, off_t(size)) }
      throw error
    }
  }

  /// Hands all that was added to `body`, in parts that end where an item of the list does.
  func forEachPart(_ body: (String) throws(SystemError) -> Void) throws(SystemError) {
    var offset = 0
    while offset < size {
      var part = try read(at: offset)[...]
      if offset + part.count < size { part = part[..<(lastItem(of: part) ?? part.endIndex)] }
      try body(String(decoding: part, as: UTF8.self))
      offset += part.count
    }
  }

  private func read(at offset: Int) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 65536)
    let number = descriptor.number
    let count = try retrying("read", name) {
      bytes.withUnsafeMutableBytes { pread(number, $0.baseAddress, $0.count, off_t(offset)) }
    }
    return Array(bytes[..<count])
  }

  /// Where the last item begins, if not at the start. The lines of an item stand further right.
  private func lastItem(of part: ArraySlice<UInt8>) -> Int? {
    let mark = Array("\n  - ".utf8)
    return part.indices.dropLast(mark.count).reversed().first {
      part[$0..<$0 + mark.count].elementsEqual(mark)
    }.map { $0 + 1 }
  }
}
