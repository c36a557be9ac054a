import Glibc
import KeyboardModes
import Keyboards
import System
import Terminal

/// A recording that is being written. After a failed write, the last line of the recording may be
/// cut off; readers report this.
///
/// The sections of the devices follow one another. The first section is written at once. Any other
/// section with events has a file of its own beside the recording, such as `x.2` for the second
/// device of `x`, until ``finish()`` appends the file: so no event is lost if this process is
/// killed. If the recording goes to standard output, the other sections stay in memory.
final class RecordingFile {
  private struct Section {
    var writer = LibinputWriter()
    let description: String
    /// The reports that are not in a file yet.
    var text = ""
    /// Its file beside the recording, if it has one.
    var file: SectionFile?
  }

  /// The section of one device, as a recording of its own.
  private final class SectionFile {
    private static let header = LibinputWriter.header(devices: 1, remarks: [])
    let path: String
    let descriptor: FileDescriptor

    init(_ path: String, _ description: String) throws(SystemError) {
      self.path = path
      descriptor = try FileDescriptor.opening(path, flags: O_RDWR | O_CREAT | O_EXCL)
      giveToSudoUser(descriptor.number)
      try writeAll(Array((Self.header + description).utf8), to: descriptor.number, path)
    }

    /// Appends the section to another file, and removes this file.
    func move(to recording: Int32, _ name: String) throws(SystemError) {
      lseek(descriptor.number, off_t(Self.header.utf8.count), SEEK_SET)
      var bytes: [UInt8] = []
      while try readSome(from: descriptor.number, upTo: 1 << 16, { bytes = Array($0) }) == .bytes {
        try writeAll(bytes, to: recording, name)
      }
      unlink(path)
    }
  }

  private let descriptor: FileDescriptor
  private let name: String
  private let path: String?
  private var sections: [Section]

  /// Begins a recording, and writes the description of the first of these devices.
  ///
  /// - Parameters:
  ///   - path: the file to create, which must not exist yet; `nil` for standard output. Only its
  ///     owner can read the file: this user, or the user who called sudo.
  ///   - devices: at least one; the index of each is the `order` of its `DeviceID`.
  ///   - parents: the numbers of their physical devices; empty if there is only one device.
  init(
    _ path: String?, _ devices: [DeviceDescription], parents: [Int] = [], remarks: [String]
  ) throws(SystemError) {
    (name, self.path) = (path ?? "standard output", path)
    let number = try retrying(path == nil ? "write" : "create", name) {
      guard let path else { return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) }
      return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    }
    descriptor = FileDescriptor(owning: number)
    if path != nil { giveToSudoUser(number) }
    sections = devices.enumerated().map { index, device in
      let parent = parents.isEmpty ? nil : parents[index]
      return Section(description: LibinputWriter.section(device, parent: parent))
    }
    let header = LibinputWriter.header(devices: devices.count, remarks: remarks)
    try append(header + sections[0].description)
  }

  /// Adds inputs; ``flush()`` or ``finish()`` writes them.
  func add(_ inputs: [Controller.Input]) {
    var rest = inputs[...]
    while let input = rest.popFirst() {
      guard let device = input.device?.order else { continue }
      guard case .key(_, let event) = input else {
        sections[device].text += sections[device].writer.text(of: input)
        continue
      }
      var keys = [event]
      while case .key(input.device, let next)? = rest.first, next.continuesFrame,
        next.time == event.time
      {
        keys.append(next)
        rest.removeFirst()
      }
      sections[device].text += sections[device].writer.text(of: keys)
    }
  }

  /// Writes the added inputs. A section that cannot have a file of its own stays in memory.
  func flush() throws(SystemError) {
    for index in sections.indices where !sections[index].text.isEmpty {
      if index > 0, sections[index].file == nil, let path {
        sections[index].file = try? SectionFile("\(path).\(index + 1)", sections[index].description)
      }
      guard let file = index == 0 ? descriptor.number : sections[index].file?.descriptor.number
      else { continue }
      try writeAll(Array(sections[index].text.utf8), to: file, name)
      sections[index].text = ""
    }
  }

  /// Writes the added inputs, and appends the sections of all devices but the first. Call this
  /// once.
  func finish() throws(SystemError) {
    try flush()
    for section in sections.dropFirst() {
      if let file = section.file {
        try file.move(to: descriptor.number, name)
      } else {
        try append(section.description + section.text)
      }
    }
  }

  private func append(_ text: String) throws(SystemError) {
    try writeAll(Array(text.utf8), to: descriptor.number, name)
  }
}

/// Gives the new file to the user who called sudo, if one did. If the file system has no owners,
/// the file stays as it is.
private func giveToSudoUser(_ file: Int32) {
  guard getuid() == 0, geteuid() == 0, let user = environment("SUDO_UID").flatMap({ uid_t($0) }),
    let group = environment("SUDO_GID").flatMap({ gid_t($0) })
  else { return }
  _ = fchown(file, user, group)
}
