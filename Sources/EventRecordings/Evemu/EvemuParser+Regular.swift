import KeyboardModes

extension EvemuParser {
  static var hasRegularLines: Bool { true }

  /// The fast path: parses lines that look exactly as evemu-record and keymodectl write them.
  ///
  ///     E: 0.000001 0001 002a 0001	# EV_KEY / KEY_LEFTSHIFT        1
  ///
  /// Behind the decimal point of such a line each field has a known offset, and the text before the
  /// point is mostly that of the line before. The first line that differs, or says more than a key
  /// event, is left to ``parse(_:isTerminated:)``.
  mutating func parseRegular(
    _ text: RegularText, into events: UnsafeMutableBufferPointer<KeyEvent>
  ) -> RegularText.Length {
    var length = RegularText.Length()
    var line = text.start
    var second = SecondText(.init(mark: "E: ", separator: UInt8(ascii: ".")))
    while length.events < events.count, line < text.end {
      guard second.matches(line), let microseconds = (line + second.count).sixDigits() else {
        break
      }
      let fields = line + (second.count &+ 6)
      var end = fields + 15
      var event: KeyEvent?
      if fields.begins(with: " 0001 ") {
        guard (fields + 10).begins(with: " 000"), let number = (fields + 6).fourHexadecimalDigits(),
          let key = KeyCode(number), let action = KeyEvent.Action(digit: (fields + 14).character)
        else { break }
        event = KeyEvent(time: second.time(microseconds), key: key, action: action)
      } else if fields.begins(with: " 0000 0000 000") {
        // The value of a report of software autorepeat is 1.
        guard (fields + 14).isDigit(upTo: 1) else { break }
      } else {
        guard let found = endOfOther(fields) else { break }
        end = found
      }
      guard let next = nextLine(behind: end, of: line, in: text) else { break }
      if let event {
        events.initializeElement(at: length.events, to: event)
        length.events &+= 1
      }
      length.parts &+= 1
      line = next
    }
    length.bytes = line - text.start
    if length.parts > 0 { (isRecognized, isInModalias) = (true, false) }
    if length.events > 0 { valueWidth = 4 }
    return length
  }
}

extension EvemuParser {
  /// The lines at the start of `text` that look exactly as evemu-record writes them. No other format
  /// has such lines, unless a comment quotes one of evtest's.
  static func regularLines(of text: UnsafeRawBufferPointer) -> RegularText.Length {
    let none = RegularText.Length()
    guard let start = text.baseAddress, text.begins(with: "E: ") else { return none }
    var parser = EvemuParser()
    let length = withUnsafeTemporaryAllocation(of: KeyEvent.self, capacity: 256) { events in
      parser.parseRegular(RegularText(start: start, end: start + text.count), into: events)
    }
    let lines = UnsafeRawBufferPointer(rebasing: text[..<length.bytes])
    return EvtestParser.isOwn(lines) ? none : length
  }
}

/// The end of the value of an event of another type than keys and synchronization; `nil` if the
/// event is not well-formed.
@inline(__always)
private func endOfOther(_ fields: UnsafeRawPointer) -> UnsafeRawPointer? {
  let isScanCode = fields.begins(with: " 0004 0004 ")
  guard isScanCode || isOther(fields) else { return nil }
  let value = fields + 11
  let start = value.character == UInt8(ascii: "-") ? value + 1 : value
  // Eight digits fit into 32 bits.
  return start.decimal().map { start + $0.count }
}

private func isOther(_ fields: UnsafeRawPointer) -> Bool {
  fields.character == .space && (fields + 5).character == .space
    && (fields + 10).character == .space && (fields + 6).fourHexadecimalDigits() != nil
    && ((fields + 1).fourHexadecimalDigits() ?? 0) > 1
}

/// The start of the line behind this one; `nil` if this one is incomplete or too long.
@inline(__always)
private func nextLine(
  behind end: UnsafeRawPointer, of line: UnsafeRawPointer, in text: RegularText
) -> UnsafeRawPointer? {
  switch end.character {
  case UInt8(ascii: "\n"): return end < text.end ? end + 1 : nil
  case .space, .tab, UInt8(ascii: "#"):
    guard let found = end.lineEnd(before: text.end), found - line < InputReader.longestLine else {
      return nil
    }
    return found + 1
  default: return nil
  }
}
