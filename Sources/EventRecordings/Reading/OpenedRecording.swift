import SystemCalls

/// An open file with its format, and the number of streams that it is read as.
final class OpenedRecording {
  let file: OpenFile
  private let format: RecordingFormat

  /// The format, if it was detected by content.
  let detectedFormat: RecordingFormat?

  /// Whether no format claims anything of the file, and the user named none.
  let isUnknown: Bool

  /// The devices, if the file has the events of one device after those of another.
  let devices: SortedDevices?

  /// The reader with the bytes that detection has read; taken by the first use.
  private var onlyReader: InputReader?

  /// Opens the file at `path`; `-` is standard input.
  init(
    _ path: FilePath, _ format: RecordingFormat?, _ options: ReadingOptions
  ) throws(RecordingError) {
    file = try OpenFile(path)
    var reader = InputReader(file)
    let isFile = file.size != nil
    let start = try reader.peek { start in
      // Of a file, the rest is there too: looking for the format once is enough.
      if isFile { return start.count >= RecordingFormat.detectedSize }
      return format == nil || format == .libinput ? RecordingFormat.isKnown(from: start) : true
    }
    let claimed = format ?? RecordingFormat(of: start)
    isUnknown = claimed == nil
    self.format = claimed ?? .guessed(of: start)
    detectedFormat = format == nil ? self.format : nil
    let isOfOneDevice =
      start.starts(with: "ndevices: 1\n".utf8) || start.firstOffset(of: "\nndevices: 1\n") != nil
    if self.format == .libinput, !isOfOneDevice {
      let stream = LibinputStream(
        reader, ofOneDevice: false, DeviceNumbering(), file: file.name, options)
      devices = try SortedDevices(stream, file: file.name)
    } else {
      devices = nil
      onlyReader = consume reader
    }
  }

  /// How many bytes will be read in all, if that is known.
  var size: Int? { devices?.size ?? file.size }

  /// The number of its streams.
  var streamCount: Int { devices?.ranges.count ?? 1 }

  /// Its streams, from the start. The first has the index `first` among the `count` streams of all
  /// files.
  func streams(
    from first: Int, of count: Int, _ options: ReadingOptions
  ) -> [any RecordingStream] {
    if let devices {
      return devices.ranges.indices.map { index in
        let id = DeviceNumbering(stream: first + index, of: count).id(0)
        return devices.stream(index, id)
      }
    }
    let reader = onlyReader.take() ?? InputReader(file)
    return [stream(reader, DeviceNumbering(stream: first, of: count), options)]
  }

  private func stream(
    _ reader: consuming InputReader, _ numbering: DeviceNumbering, _ options: ReadingOptions
  ) -> any RecordingStream {
    let name = file.name
    return switch format {
    case .evemu: EntryStream(reader, EvemuParser(), numbering, file: name, options)
    case .evtest: EntryStream(reader, EvtestParser(), numbering, file: name, options)
    case .getevent: EntryStream(reader, GeteventParser(), numbering, file: name, options)
    case .libinput: LibinputStream(reader, ofOneDevice: true, numbering, file: name, options)
    case .raw64: EntryStream(reader, RawParser.bits64, numbering, file: name, options)
    case .raw32: EntryStream(reader, RawParser.bits32, numbering, file: name, options)
    }
  }
}
