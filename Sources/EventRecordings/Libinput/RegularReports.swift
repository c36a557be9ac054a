import KeyboardModes

/// Parses reports that look exactly as `libinput record` and keymodectl write them.
struct RegularReports {
  /// The first line of a report.
  static let start: StaticString = "  - evdev:\n"

  /// Whether the recording says that its keys are obfuscated.
  let isObfuscated: Bool

  /// What was found in the reports that were read to their ends.
  private(set) var found = Findings()

  struct Findings {
    /// How many lines were read up to the last event.
    var linesToLastEvent = 0
    /// Whether there is a key that may stand for other keys.
    var hasHiddenKeys = false
  }

  init(isObfuscated: Bool) { self.isObfuscated = isObfuscated }

  /// Parses reports for as long as each has only regular lines, and the first line of another one is
  /// behind it. `text` begins behind the first line of the first report; what is read ends behind
  /// the first line of a report too.
  mutating func parse(
    _ text: RegularText, into events: UnsafeMutableBufferPointer<KeyEvent>
  ) -> RegularText.Length {
    var length = RegularText.Length()
    var second = SecondText(.init(mark: "    - [", separator: UInt8(ascii: ","), isPadded: true))
    var line = text.start
    // What was found so far, also in the present report.
    var (new, now) = (RegularText.Length(), found)
    var hasScanCodeOfA = false
    while line < text.end {
      var lineEnd: UnsafeRawPointer?
      var isStart = false
      if second.matches(line) {
        guard let event = Event(line + second.count), new.events < events.count else { break }
        now.linesToLastEvent = new.parts &+ 1
        switch event {
        case .key(let fraction, let key, let action):
          let event = KeyEvent(time: second.time(fraction), key: key, action: action)
          events.initializeElement(at: new.events, to: event)
          new.events &+= 1
          if isObfuscated || (hasScanCodeOfA && key.number != 30) { now.hasHiddenKeys = true }
        case .scanCode(let code): hasScanCodeOfA = code == 30
        case .other: break
        }
        lineEnd = (line + (second.count &+ Event.width)).endOfComment(before: text.end)
      } else if line.begins(with: Self.start), now.linesToLastEvent > found.linesToLastEvent {
        (lineEnd, isStart) = (line + 10, true)
      } else if line.begins(with: "  #") {
        // The time is written now and then.
        lineEnd = line.lineEndBehindPrintable(before: text.end)
      }
      guard let end = lineEnd, end < text.end else { break }
      new.parts &+= 1
      line = end + 1
      guard isStart else { continue }
      new.bytes = line - text.start
      (length, found, hasScanCodeOfA) = (new, now, false)
    }
    return length
  }
}

extension RegularReports {
  /// The event of a line, without the seconds of its time.
  private enum Event {
    case key(Int64, KeyCode, KeyEvent.Action)
    case scanCode(Int64)
    case other

    /// The number of characters that it has.
    static let width = 27

    /// Parses ` 300002,   1,  42,       2]`.
    @inline(__always)
    init?(_ fields: UnsafeRawPointer) {
      let type = fields + 7
      guard fields.character == .space, let fraction = (fields + 1).rightAligned(6),
        (fields + 26).character == UInt8(ascii: "]")
      else { return nil }
      if type.begins(with: ",   1, ") {
        guard let number = (type + 7).rightAligned(3),
          let key = KeyCode(UInt16(truncatingIfNeeded: number)),
          (type + 10).begins(with: ",       "),
          let action = KeyEvent.Action(digit: (type + 18).character)
        else { return nil }
        self = .key(fraction, key, action)
      } else if type.begins(with: ",   0,   0,       ") {
        guard (type + 18).isDigit(upTo: 1) else { return nil }
        self = .other
      } else if type.begins(with: ",   4,   4, "), let code = (type + 12).rightAligned(7) {
        self = .scanCode(code)
      } else {
        guard Self.isOther(type) else { return nil }
        self = .other
      }
    }

    /// Whether this is the event of another type than keys and synchronization:
    /// `,   2,   0,      -1]`.
    @inline(never)
    private static func isOther(_ text: UnsafeRawPointer) -> Bool {
      guard text.begins(with: ", "), let type = (text + 2).rightAligned(3), type > 1,
        (text + 5).begins(with: ", "), let code = (text + 7).rightAligned(3),
        (text + 10).begins(with: ", ")
      else { return false }
      // The scan code of a report decides whether it is obfuscated.
      if type == 4, code == 4 { return false }
      var value = text + 12
      while value.character == .space { value += 1 }
      if value.character == UInt8(ascii: "-") { value += 1 }
      return value.decimal().map { value + $0.count == text + 19 } == true
    }
  }
}

extension UnsafeRawPointer {
  /// The end of the line, if nothing but a comment of printable characters is before it.
  @inline(__always)
  fileprivate func endOfComment(before end: UnsafeRawPointer) -> UnsafeRawPointer? {
    if character == UInt8(ascii: "\n") { return self }
    return begins(with: " #") ? lineEndBehindPrintable(before: end) : nil
  }
}
