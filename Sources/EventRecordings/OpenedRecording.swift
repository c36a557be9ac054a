/// A file of which the format is known, and in how many streams it is read.
final class OpenedRecording {
  private let format: RecordingFormat

  /// Whether the format was judged by content.
  private let isJudged: Bool

  private let file: OpenFile

  /// The devices, where their events are lists of their own.
  private let devices: SortedDevices?

  /// The reader of what can be read only once, until it is used.
  private var onlyReader: InputReader?

  /// Opens the file at `path`; `-` is standard input.
  init(
    _ path: String, _ format: RecordingFormat?, _ options: ReadingOptions
  ) throws(RecordingError) {
    file = try OpenFile(path)
    isJudged = format == nil
    var reader = InputReader(file)
    let isOfOneDevice: Bool
    do throws(InputReaderError) {
      let start = try reader.peek {
        format == nil || format == .libinput ? RecordingFormat.isKnown(from: $0) : true
      }
      self.format = format ?? RecordingFormat(of: start)
      isOfOneDevice = self.format != .libinput || start.hasLine(beginningWith: "ndevices: 1\n")
    } catch {
      throw RecordingError(error, file: file.name)
    }
    if !isOfOneDevice {
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

  /// The format, where it was judged by content.
  var judgedFormat: RecordingFormat? { isJudged ? format : nil }

  /// Whether it can be read again: it is a file, not a pipe.
  var isRewindable: Bool { file.size != nil }

  /// How many bytes are read in all, if that is known.
  var size: Int? { devices?.size ?? file.size }

  /// In how many streams it is read.
  var streamCount: Int { devices?.ranges.count ?? 1 }

  /// What is wrong with it, behind all that its streams have.
  var fault: RecordingError? { devices?.fault }

  /// What was passed over when it was opened.
  var skipped: SkippedFaults { devices?.skipped ?? SkippedFaults() }

  /// Its streams, from the start.
  ///
  /// - Parameter first: the number of the first of them among all `count`.
  func streams(
    from first: Int, of count: Int, _ options: ReadingOptions
  ) -> [any RecordingStream] {
    if let devices {
      return devices.ranges.indices.map { place in
        let id = DeviceNumbering(stream: first + place, of: count).id(0)
        return SortedDeviceStream(devices, place, id, file: name)
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
    case .libinput:
      LibinputStream(reader, ofOneDevice: true, numbering, file: name, options)
    case .raw64, .raw32:
      RecordStream(
        reader, size: format == .raw64 ? RawRecord.size64 : RawRecord.size32, numbering, file: name,
        options)
    }
  }
}
