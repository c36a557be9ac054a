import KeyboardModes

extension EvtestParser {
  static var hasRegularLines: Bool { true }

  /// The fast path: parses lines that look exactly as evtest writes them.
  ///
  ///     Event: time 1420070400.123456, type 1 (EV_KEY), code 42 (KEY_LEFTSHIFT), value 1
  mutating func parseRegular(
    _ text: RegularText, into events: UnsafeMutableBufferPointer<KeyEvent>
  ) -> RegularText.Length {
    var length = RegularText.Length()
    // The next event would be a fault.
    guard !isUnfinished else { return length }
    var line = text.start
    var second = SecondText(.init(mark: "Event: time ", separator: UInt8(ascii: ".")))
    while length.events < events.count, line < text.end {
      guard second.matches(line), let microseconds = (line + second.count).sixDigits() else {
        break
      }
      let fields = line + (second.count &+ 6)
      var lineEnd: UnsafeRawPointer?
      var event: KeyEvent?
      if fields.begins(with: ", type 1 (EV_KEY), code ") {
        guard let (number, behind) = named(fields + 24, ", value ", before: text.end),
          let key = KeyCode(UInt16(truncatingIfNeeded: number)),
          let action = KeyEvent.Action(digit: behind.character)
        else { break }
        event = KeyEvent(time: second.time(microseconds), key: key, action: action)
        lineEnd = (behind + 1).character == UInt8(ascii: "\n") ? behind + 1 : nil
      } else if fields.begins(with: ", -------------- SYN_REPORT ------------\n") {
        lineEnd = fields + 40
      } else if fields.begins(with: ", type 4 (EV_MSC), code 4 (MSC_SCAN), value ") {
        lineEnd = (fields + 44).lineEnd(before: text.end)
      } else {
        lineEnd = endOfOther(fields, before: text.end)
      }
      guard let end = lineEnd, end < text.end, end - line < InputReader.longestLine else { break }
      if let event {
        events.initializeElement(at: length.events, to: event)
        length.events &+= 1
      }
      length.parts &+= 1
      line = end + 1
    }
    length.bytes = line - text.start
    if length.parts > 0 { (isRecognized, wrapped) = (true, nil) }
    return length
  }
}

/// Parses a number of up to four digits, its name in parentheses, and the text that follows: the
/// number, and the place behind the text.
@inline(__always)
private func named(
  _ text: UnsafeRawPointer, _ following: StaticString, before end: UnsafeRawPointer
) -> (number: Int64, behind: UnsafeRawPointer)? {
  guard let (number, count) = text.decimal(), count <= 4, (text + count).begins(with: " ("),
    let close = (text + count + 2).endOfName(before: end), (close + 1).begins(with: following)
  else { return nil }
  return (number, close + 1 + following.utf8CodeUnitCount)
}

/// The end of the line of an event of another type than keys and synchronization.
@inline(never)
private func endOfOther(
  _ fields: UnsafeRawPointer, before end: UnsafeRawPointer
) -> UnsafeRawPointer? {
  guard fields.begins(with: ", type "), let type = named(fields + 7, ", code ", before: end),
    type.number > 1, type.behind < end, let code = named(type.behind, ", value ", before: end)
  else { return nil }
  return code.behind.lineEnd(before: end)
}
