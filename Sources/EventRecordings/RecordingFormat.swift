internal import Glibc

/// The formats in which key events are recorded.
public enum RecordingFormat: String, CaseIterable, Sendable {
  /// What `evemu-record` writes, all versions.
  case evemu
  /// What `libinput record` writes, version 1: YAML.
  case libinput
  /// What `evtest` prints.
  case evtest
  /// What Android's `getevent -t` prints, with or without `-l`.
  case getevent
  /// `struct input_event` as read from a device of a 64-bit machine.
  case raw64
  /// `struct input_event` as read from a device of a 32-bit machine.
  case raw32

  /// How much of a recording is judged.
  static let judgedSize = 4096

  /// The format of what begins with these bytes, judged by content.
  ///
  /// Of text, the lines that only one format has are counted: most of them decide, and of as many
  /// the first. So no line of another format, which may have been pasted, echoed or quoted into a
  /// recording, makes it something else. Text in which nothing of any format is found counts as evemu,
  /// whose oldest recordings have no header at all.
  init(of start: UnsafeRawBufferPointer) {
    let bytes = start.withoutEncodingMark
    self =
      RecordingFormat(ofRecords: bytes)
      ?? RecordingFormat(ofLines: UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.judgedSize)))
      // Much may stand before what can be judged.
      ?? RecordingFormat(ofLines: bytes)
      ?? (bytes.first(where: { $0 > .space }) == UInt8(ascii: "[") ? .getevent : .evemu)
  }

  /// Whether these bytes suffice to judge a recording of which more is still to come: waiting for it
  /// may take as long as it takes somebody to type.
  static func isKnown(from start: UnsafeRawBufferPointer) -> Bool {
    guard start.count < judgedSize else { return true }
    let bytes = start.withoutEncodingMark
    // A record of 64 bits looks like one of 32 until it is whole.
    guard bytes.count < RawRecord.size64 || RecordingFormat(ofRecords: bytes) == nil else {
      return true
    }
    guard let end = bytes.lastIndex(of: UInt8(ascii: "\n")) else { return false }
    let lines = UnsafeRawBufferPointer(rebasing: bytes[...end])
    guard let format = RecordingFormat(ofLines: lines) else { return false }
    return format != .libinput || LibinputParser.tellsDevices(lines)
  }

  private init?(ofRecords bytes: UnsafeRawBufferPointer) {
    if RawRecord.areRecords(bytes, size: RawRecord.size64) {
      self = .raw64
    } else if RawRecord.areRecords(bytes, size: RawRecord.size32) {
      self = .raw32
    } else {
      return nil
    }
  }

  private init?(ofLines text: UnsafeRawBufferPointer) {
    var counts: [(format: RecordingFormat, count: Int)] = []
    for line in text.split(separator: UInt8(ascii: "\n")) {
      let line = UnsafeRawBufferPointer(rebasing: line)
      for format in RecordingFormat.allCases where format.claims(line) {
        if let place = counts.firstIndex(where: { $0.format == format }) {
          counts[place].count += 1
        } else {
          counts.append((format, 1))
        }
      }
    }
    // Of as many, `max` would take the last.
    guard let most = counts.reversed().max(by: { $0.count < $1.count }) else { return nil }
    self = most.format
  }

  private func claims(_ line: UnsafeRawBufferPointer) -> Bool {
    switch self {
    case .evemu: EvemuParser.claims(line)
    case .libinput: LibinputParser.claims(line)
    case .evtest: EvtestParser.claims(line)
    case .getevent: GeteventParser.claims(line)
    case .raw64, .raw32: false
    }
  }
}

extension UnsafeRawBufferPointer {
  /// What some editors put before a text in UTF-8.
  static let encodingMark: [UInt8] = [0xef, 0xbb, 0xbf]

  /// The same without such a mark.
  var withoutEncodingMark: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: dropFirst(starts(with: Self.encodingMark) ? 3 : 0))
  }

  /// Whether one of the lines begins with these characters.
  func hasLine(beginningWith text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    let wanted = UnsafeRawBufferPointer(start: text.utf8Start, count: count)
    var rest = self[...]
    while rest.count >= count {
      if rest.prefix(count).elementsEqual(wanted) { return true }
      guard let newline = rest.firstIndex(of: UInt8(ascii: "\n")) else { return false }
      rest = rest[(newline + 1)...]
    }
    return false
  }

  /// Where these characters stand first, if anywhere.
  func firstOffset(of text: StaticString) -> Int? {
    guard let base = baseAddress else { return nil }
    let length = text.utf8CodeUnitCount
    var offset = 0
    while offset + length <= count,
      let found = memchr(base + offset, Int32(text.utf8Start.pointee), count - length + 1 - offset)
    {
      offset = UnsafeRawPointer(found) - base
      if memcmp(found, text.utf8Start, length) == 0 { return offset }
      offset += 1
    }
    return nil
  }
}
