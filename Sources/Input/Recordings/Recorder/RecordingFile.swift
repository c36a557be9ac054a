import Glibc
import KeyboardModes
import Keyboards
import System
import Terminal

/// A recording that is being written. Once a write has failed, its last line may be cut off, which
/// readers report.
///
/// Each device has a section. That of the first device is written at once; those of the others stay
/// in memory until ``finish()`` appends them.
final class RecordingFile {
  private struct Section {
    var writer = LibinputWriter()
    /// What is not in the file yet: at first the description of the device, then its reports.
    var text: String
  }

  private let descriptor: FileDescriptor
  private let name: String
  private var sections: [Section]

  /// Begins a recording, and writes the description of the first of these devices.
  ///
  /// - Parameters:
  ///   - path: the file to create, which must not exist yet, and which only its owner can read;
  ///     `nil` for standard output.
  ///   - devices: at least one; the index of each is the `order` of its `DeviceID`.
  init(
    _ path: String?, _ devices: [DeviceDescription], remarks: [String]
  ) throws(SystemError) {
    name = path ?? "standard output"
    let number = try retrying(path == nil ? "write" : "create", name) {
      guard let path else { return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) }
      return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    }
    descriptor = FileDescriptor(owning: number)
    sections = devices.map { Section(text: LibinputWriter.section($0)) }
    try append(LibinputWriter.header(devices: devices.count, remarks: remarks))
    try flush()
  }

  /// Adds inputs; ``flush()`` or ``finish()`` writes them.
  func write(_ inputs: [Controller.Input]) {
    var rest = inputs[...]
    while let input = rest.popFirst() {
      guard let device = input.device?.order else { continue }
      guard case .key(_, let event) = input else {
        sections[device].text += sections[device].writer.text(of: input)
        continue
      }
      // The kernel gives all events of a report the same time.
      var keys = [event]
      while case .key(input.device, let next)? = rest.first, next.time == event.time {
        keys.append(next)
        rest.removeFirst()
      }
      sections[device].text += sections[device].writer.text(of: keys)
    }
  }

  /// Writes what was added of the first device; ``finish()`` writes the others.
  func flush() throws(SystemError) {
    guard !sections[0].text.isEmpty else { return }
    try append(sections[0].text)
    sections[0].text = ""
  }

  /// Appends the sections of the other devices. Call this once.
  func finish() throws(SystemError) {
    for section in sections.dropFirst() { try append(section.text) }
  }

  private func append(_ text: String) throws(SystemError) {
    try writeAll(Array(text.utf8), to: descriptor.number, name)
  }
}
