internal import YAML

/// Where the reader of a libinput recording goes on behind a fault.
///
/// A reader of YAML knows no more of a text behind the first fault in it. But the lines that libinput
/// writes can be told apart, each by itself: with what must have stood before one of them, the rest is
/// YAML again, for a new reader.
struct LibinputRecovery {
  /// The line at which the reader began anew, and where what it reads ends, if not with the text.
  var start = 0
  var end: Int?

  /// The last line of which the reader has told something, and that of an event that it has not told
  /// all of.
  var reached = 0
  var openLine: Int?

  /// The last line of which an event was taken.
  var lastTaken = 0

  /// The last line that need not be read again.
  var done: Int {
    guard let openLine, openLine > lastTaken else { return reached }
    return openLine - 1
  }

  /// Whether the reader got no more than the line.
  var isOneLine = false

  /// Set with a fault: the line from which on reading may go on although the YAML is right; whether it
  /// is wrong; the line that no reader can be given, for it is no text.
  var next: Int?
  var isYAMLFault = false
  var unreadable: Int?

  /// The first fault, and the line of the last one told: a fault may be met again when the lines before
  /// it are read once more.
  var first: RecordingError?
  var toldLine: Int?

  /// The fault with which reading ends once all that is whole before it was read.
  var final: RecordingError?

  /// How far right the items of the lists stand.
  var deviceColumn: Int?
  var entryColumn: Int?
}

extension LibinputParser {
  /// - Throws: where reading ends with the fault.
  func recover(from fault: RecordingError) throws(RecordingError) -> Entry? {
    guard !isAtEnd, source.failure == nil, !isOtherVersion, recovery.final == nil else {
      isAtEnd = true
      guard recovery.final == nil || isRecognized else { throw notARecording }
      throw recovery.final ?? fault
    }
    let (isYAMLFault, next) = (recovery.isYAMLFault, recovery.next)
    (recovery.isYAMLFault, recovery.next) = (false, nil)
    recovery.first = recovery.first ?? fault
    guard options.isLenient else {
      guard isYAMLFault, let line = recovery.unreadable, line > recovery.done + 1 else {
        isAtEnd = true
        throw isYAMLFault && !isRecognized ? notARecording : fault
      }
      // It is far behind what was read.
      recovery.final = fault
      return try goOn(from: recovery.done + 1, behind: nil)
    }
    let isOver = recovery.isOneLine && (isYAMLFault || next != nil)
    let told = isOver || fault.line == recovery.toldLine ? nil : fault
    if isOver { return try goOn(from: recovery.start + 1, behind: told) }
    if let next {
      return try goOn(from: max(next, recovery.start + 1), behind: told)
    }
    if isYAMLFault {
      // Perhaps the reader never told of the line at which it began, since it looks ahead.
      guard recovery.done < recovery.start else {
        return try goOn(from: recovery.done + 1, behind: told)
      }
      if let told { tell(told) }
      guard recovery.start != recovery.unreadable,
        let text = source.text(ofLine: recovery.start),
        let kind = LibinputLine(text, isRecognized: isRecognized)
      else { return try goOn(from: recovery.start + 1, behind: nil) }
      return begin(recovery.start, kind, isOneLine: true)
    }
    recovery.openLine = nil
    // An event that ends in another line may have taken in what stands between.
    guard let faultLine = fault.line, line > faultLine else {
      if let told { tell(told) }
      return nil
    }
    return try goOn(from: faultLine + 1, behind: told)
  }

  /// The reader has read what it was to read.
  func endOfPart() throws(RecordingError) -> Entry? {
    guard let end = recovery.end else { return nil }
    return try goOn(from: end, behind: nil)
  }

  /// Goes on with the first line from number `number` on that can be read by itself.
  private func goOn(
    from number: Int, behind fault: RecordingError?
  ) throws(RecordingError) -> Entry? {
    var number = max(number, source.line)
    var unread = 0
    while number != recovery.unreadable || recovery.final == nil,
      let text = source.text(ofLine: number)
    {
      if number == recovery.unreadable {
        recovery.unreadable = nil
      } else if let kind = LibinputLine(text, isRecognized: isRecognized) {
        if let fault { tell(fault) }
        return begin(number, kind, isOneLine: kind.isIndentedByTabs)
      } else if !LibinputLine.isEmpty(text), number != fault?.line {
        unread += 1
      }
      number += 1
    }
    isAtEnd = true
    if let failure = source.failure { throw RecordingError(failure, file: file) }
    if let final = recovery.final { throw isRecognized ? final : notARecording }
    if let fault, unread > 0 {
      let lines = unread == 1 ? "the last line is" : "the last \(unread) lines are"
      tell(RecordingError("\(fault.message); \(lines) not read", file: file, line: fault.line))
    } else if let fault {
      tell(fault)
    }
    guard isRecognized else { throw notARecording }
    return nil
  }

  private func tell(_ fault: RecordingError) {
    skipped.add(fault)
    recovery.toldLine = fault.line
  }

  private func begin(_ number: Int, _ kind: LibinputLine, isOneLine: Bool) -> Entry? {
    // A report that was being read ends where another entry begins.
    let isWithin = kind.isEvent || !places.contains(.report)
    let ended: Entry? = isWithin ? nil : .reportEnd(device: device)
    let before =
      isOneLine
      ? kind.prefixOfOne
      : kind.prefix(deviceColumn: recovery.deviceColumn, entryColumn: recovery.entryColumn)
    let isAlone = isOneLine || before == nil
    let prefix = before ?? kind.prefixOfOne
    let unreadable = recovery.unreadable.flatMap { $0 > number ? $0 : nil }
    recovery.start = number
    recovery.reached = number - 1
    recovery.openLine = nil
    recovery.isOneLine = isAlone
    recovery.end = isAlone ? number + 1 : unreadable
    source.doneLine = number - 1
    source.restart(
      at: number, before: recovery.end, without: isAlone ? kind.column : 0, behind: prefix)
    restart(atLine: number - prefix.utf8.count { $0 == UInt8(ascii: "\n") })
    return ended
  }
}

/// A line by which the place in a recording is known.
struct LibinputLine {
  private enum Kind {
    case root, device, events, entry, event
  }

  private let kind: Kind

  /// How many spaces stand before it.
  let column: Int
  let isIndentedByTabs: Bool

  var isEvent: Bool { kind == .event }

  /// - Parameter isRecognized: whether it is known that these are lines of a recording.
  init?(_ line: ArraySlice<UInt8>, isRecognized: Bool) {
    let space = line.prefix { $0 == .space || $0 == .tab }
    let text = line[space.endIndex...]
    func begins(_ words: String...) -> Bool { words.contains { text.starts(with: $0.utf8) } }
    if begins("- evdev:", "- keymoded:", "- hid:", "- libinput:") {
      kind = .entry
    } else if begins("- node:", "- events:") {
      kind = .device
    } else if begins("events:") {
      kind = .events
    } else if isRecognized, begins("- [") {
      kind = .event
    } else if space.isEmpty,
      begins("version:", "ndevices:", "libinput:", "system:", "devices:")
    {
      kind = .root
    } else {
      return nil
    }
    column = space.count
    isIndentedByTabs = space.contains(.tab)
  }

  /// Whether a line says nothing.
  static func isEmpty(_ line: ArraySlice<UInt8>) -> Bool {
    let first = line.first { $0 > .space }
    return first == nil || first == UInt8(ascii: "#")
  }

  /// What makes YAML of the line and all that follows it; `nil` where nothing can, as far left as it
  /// stands.
  func prefix(deviceColumn: Int?, entryColumn: Int?) -> String? {
    switch kind {
    case .root: ""
    case .device: "devices:\n"
    case .events:
      column < 2 ? "" : "devices:\n\(spaces(column - 2))- node:\n"
    case .entry: events(column, deviceColumn)
    case .event:
      column < 2
        ? nil
        : {
          let entry = min(entryColumn ?? column - 2, column - 2)
          return "\(events(entry, deviceColumn))\(spaces(entry))- evdev:\n"
        }()
    }
  }

  /// What makes YAML of the line alone, without the spaces before it.
  var prefixOfOne: String {
    switch kind {
    case .root: ""
    case .device: "devices:\n"
    case .events: "devices:\n- "
    case .entry: "devices:\n- events:\n  "
    case .event: "devices:\n- events:\n  - evdev:\n    "
    }
  }

  /// What stands before entries of a list of events at `column`.
  private func events(_ column: Int, _ deviceColumn: Int?) -> String {
    guard column >= 2 else { return "\(spaces(column))events:\n" }
    return "devices:\n\(spaces(min(deviceColumn ?? column - 2, column - 2)))- events:\n"
  }

  private func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }
}
