/// Recognizes lines of `libinput record`, among those of other formats.
enum LibinputFormat {
  /// The beginnings of lines of a recording, or of a fragment of one.
  private static let marks: [StaticString] = [
    "# libinput record", "version: 1", "ndevices:", "libinput:", "devices:", "events:", "- evdev:",
    "- node:", "- events:", "- keymoded:",
  ]

  /// Whether only this format has such a line.
  static func claims(_ line: UnsafeRawBufferPointer) -> Bool {
    let text = line.withoutIndentation
    return marks.contains { text.begins(with: $0) } || isEvent(text)
  }

  /// Whether these lines contain the number of devices, or end behind where it would be.
  static func tellsDevices(_ lines: UnsafeRawBufferPointer) -> Bool {
    lines.split(separator: UInt8(ascii: "\n")).contains { line in
      let text = line.drop { $0 == .space || $0 == .tab }
      return ["ndevices:", "devices:", "events:", "- "].contains { text.starts(with: $0.utf8) }
    }
  }

  /// Whether the line is an event: `- [  1, 300002,   1,  42,       2]`.
  private static func isEvent(_ text: UnsafeRawBufferPointer) -> Bool {
    guard text.begins(with: "- ["), let end = text.firstIndex(of: UInt8(ascii: "]")) else {
      return false
    }
    let numbers = text[..<end].dropFirst(3).split(separator: UInt8(ascii: ",")).map { number in
      Int32(ascii: UnsafeRawBufferPointer(rebasing: number.drop { $0 == .space }))
    }
    return numbers.count == 5 && !numbers.contains(nil)
  }
}
