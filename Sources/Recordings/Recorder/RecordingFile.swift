import Keyboards
import Terminal

/// A recording that is being written. If it is a file and no pipe, it always has whole reports only.
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

  private let output: AppendedFile
  private var sections: [Section] = []

  /// Writes what precedes the reports of these devices; in evemu's format there is one.
  init(
    _ output: AppendedFile, _ format: WrittenFormat, _ devices: [DeviceDescription],
    remarks: [String]
  ) throws(SystemError) {
    self.output = output
    switch format {
    case .evemu:
      for device in devices {
        sections.append(Section(writer: EvemuWriter()))
        try output.append(EvemuWriter.header(device, remarks: remarks))
      }
    case .libinput:
      sections = devices.map { device in
        Section(writer: LibinputWriter(), heading: LibinputWriter.section(device))
      }
      guard !sections.isEmpty else { return }
      let header = LibinputWriter.header(devices: devices.count, remarks: remarks)
      try output.append(header + sections[0].heading)
    }
  }

  /// Adds a report of the device at index `section`; ``flush()`` or ``finish()`` writes it.
  func write(_ report: Report, _ section: Int) {
    sections[section].reports.append(sections[section].writer.text(of: report))
  }

  /// Writes the added reports of the first device. If that fails, a file, unlike a pipe, has
  /// none of them.
  func flush() throws(SystemError) {
    guard let reports = sections.first?.reports, !reports.isEmpty else { return }
    try output.append(reports.joined())
    sections[0].reports = []
  }

  /// Appends the lists of the other devices to the first one. Call this once. If a report cannot be
  /// written, those before it are kept.
  func finish() throws(SystemError) {
    for section in sections.dropFirst() {
      try output.append(section.heading)
      for report in section.reports { try output.append(report) }
    }
  }
}
