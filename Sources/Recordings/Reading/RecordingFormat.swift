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

  /// How many bytes detection looks at.
  static let detectedSize = 4096

  /// Detects the format of a recording by its first bytes; `nil` if no format claims any of them.
  ///
  /// The format of a text is the one that claims the most lines; if several claim as many, the one
  /// whose line comes first. So a recording keeps its format if single lines of another one were
  /// pasted, echoed or quoted into it.
  init?(of start: UnsafeRawBufferPointer) {
    let format =
      RecordingFormat(ofRecords: start)
      ?? RecordingFormat(ofLines: UnsafeRawBufferPointer(rebasing: start.prefix(Self.detectedSize)))
      // The first recognizable line may come late.
      ?? RecordingFormat(ofLines: start)
    guard let format else { return nil }
    self = format
  }

  /// The format to try for a text that no format claims: getevent's lines begin with a bracket, and
  /// the oldest evemu recordings have no header.
  static func guessed(of start: UnsafeRawBufferPointer) -> RecordingFormat {
    start.first { $0 > .space } == UInt8(ascii: "[") ? .getevent : .evemu
  }

  /// The names of the formats for people. Raw records have two sizes.
  static let names = "evemu, libinput, evtest, getevent, raw"

  /// Whether these bytes are enough to detect the format. Waiting for more may take long: the
  /// recording may be one that is being typed.
  static func isKnown(from start: UnsafeRawBufferPointer) -> Bool {
    guard start.count < detectedSize else { return true }
    // A 64-bit record looks like a 32-bit one until it is complete.
    guard start.count < RawParser.size64 || RecordingFormat(ofRecords: start) == nil else {
      return true
    }
    guard let end = start.lastIndex(of: UInt8(ascii: "\n")) else { return false }
    return RecordingFormat(ofLines: UnsafeRawBufferPointer(rebasing: start[...end])) != nil
  }

  private init?(ofRecords bytes: UnsafeRawBufferPointer) {
    let is64 = RawParser.bits64.claims(bytes)
    guard is64 || RawParser.bits32.claims(bytes) else { return nil }
    self = is64 ? .raw64 : .raw32
  }

  /// The format of most lines of `text`.
  private init?(ofLines text: UnsafeRawBufferPointer) {
    // The formats that claim lines, in the order of their first ones, and the numbers of lines.
    var claims: [(format: RecordingFormat, count: Int)] = []
    var rest = text
    while !rest.isEmpty {
      let end = rest.firstOffset(of: "\n") ?? rest.count
      let line = UnsafeRawBufferPointer(rebasing: rest[..<end]).withoutCarriageReturns
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(end + 1))
      guard let format = Self.claiming(line) else { continue }
      if let index = claims.firstIndex(where: { $0.format == format }) {
        claims[index].count += 1
      } else {
        claims.append((format, 1))
      }
    }
    guard let first = claims.max(by: { $0.count < $1.count }) else { return nil }
    self = first.format
  }

  /// The format that has such a line, if any has; no two have the same.
  private static func claiming(_ line: UnsafeRawBufferPointer) -> RecordingFormat? {
    if EvemuParser().recognizes(line) { return .evemu }
    if LibinputParser().recognizes(line) { return .libinput }
    if EvtestParser().recognizes(line) { return .evtest }
    return GeteventParser().recognizes(line) ? .getevent : nil
  }
}
