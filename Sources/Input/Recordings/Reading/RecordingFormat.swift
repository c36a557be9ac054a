import Terminal

/// The formats of recordings.
public enum RecordingFormat: String, CaseIterable, Sendable {
  /// The output of `evemu-record`, in all versions.
  case evemu
  /// The output of `libinput record`, version 1: YAML.
  case libinput
  /// The output of `evtest`.
  case evtest
  /// The output of Android's `getevent -t`, with or without `-l`.
  case getevent
  /// `struct input_event`, as a 64-bit program reads it from a device.
  case raw64
  /// `struct input_event`, as a 32-bit program reads it from a device.
  case raw32

  /// A parser of a recording in this format.
  var parser: any EntryParser {
    switch self {
    case .evemu: EvemuParser()
    case .libinput: LibinputParser()
    case .evtest: EvtestParser()
    case .getevent: GeteventParser()
    case .raw64: RawParser.bits64
    case .raw32: RawParser.bits32
    }
  }

  /// Detects the format of a recording by its first bytes; `nil` if they are not a recording. In a
  /// text, the first line that a parser recognizes decides.
  init?(of start: UnsafeRawBufferPointer) {
    guard let format = RecordingFormat(ofRecords: start) ?? RecordingFormat(ofLines: start) else {
      return nil
    }
    self = format
  }

  /// The names of the formats for people. Raw records have two sizes.
  static let names = "evemu, libinput, evtest, getevent, raw"

  /// Whether these bytes are enough to detect the format. More bytes may come much later: a pipe
  /// may carry a recording that is still being made.
  static func canDetect(from start: UnsafeRawBufferPointer) -> Bool {
    guard start.count < PartReader.maxLineBytes else { return true }
    guard start.count < RawParser.size64 || encodingFault(of: start) == nil else { return true }
    // A 64-bit record looks like a 32-bit one until it is complete.
    guard start.count < RawParser.size64 || RecordingFormat(ofRecords: start) == nil else {
      return true
    }
    guard let end = start.lastIndex(of: UInt8(ascii: "\n")) else { return false }
    return RecordingFormat(ofLines: UnsafeRawBufferPointer(rebasing: start[...end])) != nil
  }

  private init?(ofRecords bytes: UnsafeRawBufferPointer) {
    let is64 = RawParser.bits64.matches(bytes)
    guard is64 || RawParser.bits32.matches(bytes) else { return nil }
    self = is64 ? .raw64 : .raw32
  }

  private init?(ofLines text: UnsafeRawBufferPointer) {
    var rest = UnsafeRawBufferPointer(
      rebasing: text.dropFirst(text.begins(with: "\u{feff}") ? 3 : 0))
    while !rest.isEmpty {
      let end = rest.firstOffset(of: "\n") ?? rest.count
      let line = UnsafeRawBufferPointer(rebasing: rest[..<end]).withoutCarriageReturns
      let formats: [RecordingFormat] = [.evemu, .libinput, .evtest, .getevent]
      // No line is recognized by two formats.
      if let format = formats.first(where: { $0.parser.recognizes(line) }) {
        self = format
        return
      }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(end + 1))
    }
    return nil
  }
}
