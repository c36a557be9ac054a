/// A file of which the format is known, and in how many readings it is read.
final class OpenedRecording {
  /// Readers of more devices at a time would take too much memory.
  private static let mostDevices = 64

  /// In how many readings at a time it is read: one for each device whose events are a list of their
  /// own.
  let streamCount: Int

  private let format: RecordingFormat
  private let isOnlyDevice: Bool
  private let file: OpenFile

  /// The reader of what can be read only once, until it is used.
  private var onlyReader: InputReader?

  /// Opens the file at `path`; `-` is standard input.
  init(_ path: String, _ format: RecordingFormat?) throws(RecordingError) {
    var file = try OpenFile(path)
    var reader = InputReader(file)
    do throws(InputReaderError) {
      let start = try reader.peek()
      self.format = format ?? RecordingFormat(of: start)
      isOnlyDevice = start.hasLine(beginningWith: "ndevices: 1\n")
    } catch {
      throw RecordingError(error, file: file.name)
    }
    if self.format == .libinput && !isOnlyDevice {
      if file.size == nil { file = try file.copied(from: &reader) }
      streamCount = max(1, try OpenedRecording.countDevices(in: file))
    } else {
      streamCount = 1
    }
    guard streamCount <= Self.mostDevices else {
      throw RecordingError("more than \(Self.mostDevices) devices with events", file: file.name)
    }
    self.file = file
    onlyReader = file.size == nil ? consume reader : nil
  }

  /// The file, as the user named it.
  var name: String { file.name }

  /// Whether it is a file, not a pipe.
  var isRewindable: Bool { file.size != nil }

  /// How many bytes it has, if that is known.
  var size: Int? { file.size }

  /// The readings of the file from its start.
  ///
  /// - Parameter first: the number of the first of them among all `count`.
  func streams(
    from first: Int, of count: Int, _ options: ReadingOptions
  ) -> [any RecordingStream] {
    (0..<streamCount).map { place in
      let numbering = DeviceNumbering(stream: first + place, of: count)
      let reader = onlyReader.take() ?? InputReader(file)
      switch format {
      case .evemu: return LineStream(reader, EvemuParser(), numbering, file: name, options)
      case .evtest: return LineStream(reader, EvtestParser(), numbering, file: name, options)
      case .getevent: return LineStream(reader, GeteventParser(), numbering, file: name, options)
      case .raw64, .raw32:
        let size = format == .raw64 ? RawRecord.size64 : RawRecord.size32
        return RecordStream(reader, size: size, numbering, file: name, options)
      case .libinput:
        let devices: LibinputStream.Selection =
          isOnlyDevice ? .only : .one(place, of: streamCount)
        return LibinputStream(reader, devices, numbering, file: name, options)
      }
    }
  }

  /// How many devices have events, as far as the file can be read.
  private static func countDevices(in file: OpenFile) throws(RecordingError) -> Int {
    let stream = LibinputStream(
      InputReader(file), .none, DeviceNumbering(), file: file.name, ReadingOptions())
    do throws(RecordingError) {
      while try stream.next() != nil {}
    } catch {
      // The reader of what stands there will come upon it, when its time has come.
    }
    return stream.listsMet
  }
}
