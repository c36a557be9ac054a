/// An open file with its format, and the number of streams that it is read as.
final class OpenedRecording {
  private let format: RecordingFormat

  /// Whether the format was detected by content.
  private let isDetected: Bool

  private let file: OpenFile

  /// The devices, if the file has the events of one device after those of another.
  private let devices: SortedDevices?

  /// The reader with the bytes that detection has read; taken by the first use.
  private var onlyReader: InputReader?

  /// Opens the file at `path`; `-` is standard input.
  init(
    _ path: String, _ format: RecordingFormat?, _ options: ReadingOptions
  ) throws(RecordingError) {
    file = try OpenFile(path)
    isDetected = format == nil
    var reader = InputReader(file)
    let start = try reader.peek {
      format == nil || format == .libinput ? RecordingFormat.isKnown(from: $0) : true
    }
    self.format = format ?? RecordingFormat(of: start)
    if self.format == .libinput, !start.hasLine(beginningWith: "ndevices: 1\n") {
      let stream = LibinputStream(
        reader, ofOneDevice: false, DeviceNumbering(), file: file.name, options)
      devices = try SortedDevices(stream, file: file.name)
    } else {
      devices = nil
      onlyReader = consume reader
    }
  }

  /// The file, as the user named it.
  var name: String { file.name }

  /// The format, if it was detected by content.
  var detectedFormat: RecordingFormat? { isDetected ? format : nil }

  /// Whether it can be read again: whether it is a file, not a pipe.
  var isRewindable: Bool { file.size != nil }

  /// How many bytes will be read in all, if that is known.
  var size: Int? { devices?.size ?? file.size }

  /// The number of its streams.
  var streamCount: Int { devices?.ranges.count ?? 1 }

  /// A fault behind all inputs of its streams.
  var fault: RecordingError? { devices?.fault }

  /// The faults that were skipped when it was opened.
  var skipped: SkippedFaults { devices?.skipped ?? SkippedFaults() }

  /// Its streams, from the start.
  ///
  /// - Parameter first: the index of its first stream among the `count` streams of all files.
  func streams(
    from first: Int, of count: Int, _ options: ReadingOptions
  ) -> [any RecordingStream] {
    if let devices {
      return devices.ranges.indices.map { index in
        let id = DeviceNumbering(stream: first + index, of: count).id(0)
        return SortedDeviceStream(devices, index, id, file: name)
      }
    }
    let reader = onlyReader.take() ?? InputReader(file)
    return [stream(reader, DeviceNumbering(stream: first, of: count), options)]
  }

  private func stream(
    _ reader: consuming InputReader, _ numbering: DeviceNumbering, _ options: ReadingOptions
  ) -> any RecordingStream {
    switch format {
    case .evemu: LineStream(reader, EvemuParser(), numbering, file: name, options)
    case .evtest: LineStream(reader, EvtestParser(), numbering, file: name, options)
    case .getevent: LineStream(reader, GeteventParser(), numbering, file: name, options)
    case .libinput: LibinputStream(reader, ofOneDevice: true, numbering, file: name, options)
    case .raw64, .raw32:
      RawStream(
        reader, size: format == .raw64 ? RawRecord.size64 : RawRecord.size32, numbering, file: name,
        options)
    }
  }
}
