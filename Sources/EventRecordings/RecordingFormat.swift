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

  /// The format of what begins with these bytes, judged by content.
  ///
  /// Text in which nothing of another format is found counts as evemu, whose oldest recordings have no
  /// header at all.
  init(of start: UnsafeRawBufferPointer) {
    let hasMark = start.starts(with: UnsafeRawBufferPointer.encodingMark)
    let bytes = UnsafeRawBufferPointer(rebasing: start.dropFirst(hasMark ? 3 : 0))
    if RawRecord.areRecords(bytes, size: RawRecord.size64) {
      self = .raw64
    } else if RawRecord.areRecords(bytes, size: RawRecord.size32) {
      self = .raw32
    } else if bytes.starts(with: "# EVEMU".utf8) {
      self = .evemu
    } else if LibinputParser.marks.contains(where: { bytes.hasLine(beginningWith: $0) }) {
      self = .libinput
    } else if EvtestParser.marks.contains(where: { bytes.firstOffset(of: $0) != nil })
      || bytes.hasLine(beginningWith: "Supported events:")
    {
      self = .evtest
    } else if bytes.first(where: { $0 > .space }) == UInt8(ascii: "[")
      || GeteventParser.marks.contains(where: { bytes.firstOffset(of: $0) != nil })
    {
      self = .getevent
    } else {
      self = .evemu
    }
  }
}

extension UnsafeRawBufferPointer {
  /// What some editors put before a text in UTF-8.
  static let encodingMark: [UInt8] = [0xef, 0xbb, 0xbf]

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
