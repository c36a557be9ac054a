import Evdev
import EventRecordings
import SystemCalls

/// A recording that is being written. At any time its file holds complete reports only.
///
/// In libinput's format each device has a list of reports. That of the first device is written into
/// the recording at once; those of the other devices grow in files without a name, which ``finish()``
/// appends.
final class RecordingFile {
  private struct Section {
    var writer: any RecordingWriter
    /// The text that ``flush()`` will write.
    var text = ""
    /// The file of the device's reports; for the first device, the recording itself.
    let list: AppendedFile
    let heading: String
  }

  private var sections: [Section] = []

  /// Writes what precedes the reports of these devices; in evemu's format there is one.
  init(
    _ output: AppendedFile, _ format: WrittenFormat, _ devices: [DeviceDescription],
    remarks: [String]
  ) throws(SystemError) {
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

  /// Adds a report of the device at index `section`; ``flush()`` writes it.
  func write(_ report: Report, _ section: Int) {
    sections[section].text += sections[section].writer.text(of: report)
  }

  /// Writes the added reports. If those of a device cannot be written, none of them is kept.
  func flush() throws(SystemError) {
    for index in sections.indices where !sections[index].text.isEmpty {
      try sections[index].list.append(sections[index].text)
      sections[index].text = ""
    }
  }

  /// Appends the lists of the other devices to the first one. Call this once. If one cannot be read
  /// or written, the reports before are kept.
  func finish() throws(SystemError) {
    guard let output = sections.first?.list else { return }
    for section in sections.dropFirst() {
      try output.append(section.heading)
      try section.list.forEachPart { part throws(SystemError) in try output.append(part) }
    }
  }
}
