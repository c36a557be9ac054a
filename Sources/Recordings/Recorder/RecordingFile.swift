import Glibc
import Keyboards
import Linux
import Terminal

/// A recording that is being written. Once a write has failed, its last line may be cut off, which
/// readers report.
///
/// In libinput's format each device has a list of reports. That of the first device is written
/// into the recording at once; those of the other devices stay in memory until ``finish()``
/// appends them.
final class RecordingFile {
  private struct Section {
    var writer: any RecordingWriter
    /// The texts of the reports that are not in the file yet.
    var reports: [String] = []
    /// The text before them, unless it is in the file already.
    var heading = ""
  }

  private let descriptor: FileDescriptor
  private let name: String
  private var sections: [Section] = []

  /// Begins a recording, and writes what precedes the reports of these devices; in evemu's format
  /// there is one.
  ///
  /// - Parameter path: where to create a file that only its owner can read, and where none may be;
  ///   `nil` for standard output.
  init(
    _ path: String?, _ format: WrittenFormat, _ devices: [DeviceDescription], remarks: [String]
  ) throws(SystemError) {
    name = path ?? "standard output"
    let number = try retrying(path == nil ? "write" : "create", name) {
      guard let path else { return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) }
      return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    }
    descriptor = FileDescriptor(owning: number)
    switch format {
    case .evemu:
      for device in devices {
        sections.append(Section(writer: EvemuWriter()))
        try append(EvemuWriter.header(device, remarks: remarks))
      }
    case .libinput:
      sections = devices.map { device in
        Section(writer: LibinputWriter(), heading: LibinputWriter.section(device))
      }
      guard !sections.isEmpty else { return }
      let header = LibinputWriter.header(devices: devices.count, remarks: remarks)
      try append(header + sections[0].heading)
    }
  }

  /// Adds a report of the device at index `section`; ``flush()`` or ``finish()`` writes it.
  func write(_ report: Report, _ section: Int) {
    sections[section].reports.append(sections[section].writer.text(of: report))
  }

  /// Writes the added reports of the first device.
  func flush() throws(SystemError) {
    guard let reports = sections.first?.reports, !reports.isEmpty else { return }
    try append(reports.joined())
    sections[0].reports = []
  }

  /// Appends the lists of the other devices to the first one. Call this once.
  func finish() throws(SystemError) {
    for section in sections.dropFirst() {
      try append(section.heading + section.reports.joined())
    }
  }

  private func append(_ text: String) throws(SystemError) {
    try writeAll(Array(text.utf8), to: descriptor.number, name)
  }
}
