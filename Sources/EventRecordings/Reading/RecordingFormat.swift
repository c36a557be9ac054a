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

  /// How many bytes detection looks at.
  static let detectedSize = 4096

  /// Detects the format of a recording by its first bytes; `nil` if no format claims any of them.
  ///
  /// The format of a text is the one that claims the most lines; if several claim as many, the one
  /// whose line comes first. So a recording keeps its format if single lines of another one were
  /// pasted, echoed or quoted into it.
  init?(of start: UnsafeRawBufferPointer) {
    let bytes = start.withoutEncodingMark
    let format =
      RecordingFormat(ofRecords: bytes)
      ?? RecordingFormat(ofLines: UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.detectedSize)))
      // The first recognizable line may come late.
      ?? RecordingFormat(ofLines: bytes)
    guard let format else { return nil }
    self = format
  }

  /// The format to read a text as that no format claims: getevent's lines begin with a bracket, and
  /// the oldest evemu recordings have no header.
  static func guessed(of start: UnsafeRawBufferPointer) -> RecordingFormat {
    let first = start.withoutEncodingMark.first { $0 > .space }
    return first == UInt8(ascii: "[") ? .getevent : .evemu
  }

  /// The names of the formats for people. Raw records have two sizes.
  static let names = "evemu, libinput, evtest, getevent, raw"

  /// Whether these bytes are enough to detect the format. Waiting for more may take long: the
  /// recording may be one that is being typed.
  static func isKnown(from start: UnsafeRawBufferPointer) -> Bool {
    guard start.count < detectedSize else { return true }
    let bytes = start.withoutEncodingMark
    // A 64-bit record looks like a 32-bit one until it is complete.
    guard bytes.count < RawParser.size64 || RecordingFormat(ofRecords: bytes) == nil else {
      return true
    }
    guard let end = bytes.lastIndex(of: UInt8(ascii: "\n")) else { return false }
    let lines = UnsafeRawBufferPointer(rebasing: bytes[...end])
    guard let format = RecordingFormat(ofLines: lines) else { return false }
    return format != .libinput || LibinputFormat.tellsDevices(lines)
  }

  private init?(ofRecords bytes: UnsafeRawBufferPointer) {
    let is64 = RawParser.bits64.claims(bytes)
    guard is64 || RawParser.bits32.claims(bytes) else { return nil }
    self = is64 ? .raw64 : .raw32
  }

  private init?(ofLines text: UnsafeRawBufferPointer) {
    let claims = text.split(separator: UInt8(ascii: "\n")).flatMap { line in
      Self.allCases.filter { $0.claims(UnsafeRawBufferPointer(rebasing: line)) }
    }
    let counts: [RecordingFormat: Int] = claims.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    guard let first = claims.first(where: { counts[$0] == counts.values.max() }) else { return nil }
    self = first
  }

  private func claims(_ line: UnsafeRawBufferPointer) -> Bool {
    switch self {
    case .evemu: EvemuParser().recognizes(line)
    case .libinput: LibinputFormat.claims(line)
    case .evtest: EvtestParser.claims(line)
    case .getevent: GeteventParser.claims(line)
    case .raw64, .raw32: false
    }
  }
}
