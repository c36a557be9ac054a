/// What the parser remembers of faults and of the layout of the text.
struct LibinputRecovery {
  /// The faults that were skipped, and the line of the last of them: it may be found again when the
  /// lines before it are read again.
  private(set) var skipped = SkippedFaults()
  private(set) var lastLine: Int?

  /// The first fault.
  var first: RecordingError?

  /// The fault that a strict reading ends with once it has read all lines above it.
  var final: RecordingError?

  /// A line that libyaml refuses because of its bytes; sections end before it.
  var unreadable: Int?

  /// The number of spaces before the items of the list of devices and of a list of events.
  var deviceColumn: Int?
  var entryColumn: Int?

  mutating func count(_ fault: RecordingError?) {
    guard let fault else { return }
    skipped.add(fault)
    lastLine = fault.line
  }
}

/// How reading goes on behind a fault.
///
/// Most lines of libinput show what they are: `- evdev:` begins a report, `- [` an event. So the
/// parser looks for the next such line that it has not read yet, puts before it what YAML needs
/// there, and reads from it on as a new section. If a section fails in its first line, it reads
/// this line alone, without its indentation, and looks further.
extension LibinputParser {
  private var source: LibinputSource { reader.source }

  /// Goes on behind `fault`, as far as the options and the kind of the fault allow, or throws the
  /// fault that reading ends with. Returns the end of a report that was being read.
  mutating func recover(from fault: LibinputFault) throws(RecordingError) -> Entry? {
    guard fault.kind != .fatal, source.failure == nil, recovery.final == nil else {
      isAtEnd = true
      throw recovery.final.map { isRecognized ? $0 : notARecording } ?? fault.error
    }
    recovery.first = recovery.first ?? fault.error
    if case .yaml(let unreadable?) = fault.kind { recovery.unreadable = unreadable }
    return options.isLenient ? try skip(fault) : try end(with: fault)
  }

  /// Throws the fault of a strict reading, or first reads the lines above it: libyaml finds invalid
  /// bytes as soon as it has them in its buffer.
  private mutating func end(with fault: LibinputFault) throws(RecordingError) -> Entry? {
    if case .yaml(let unreadable?) = fault.kind, unreadable > reader.done + 1 {
      recovery.final = fault.error
      return try resume(from: reader.done + 1, skipping: nil)
    }
    isAtEnd = true
    if case .yaml = fault.kind, !isRecognized { throw notARecording }
    throw fault.error
  }

  /// Goes on behind the fault of a lenient reading.
  private mutating func skip(_ fault: LibinputFault) throws(RecordingError) -> Entry? {
    let section = reader.section
    let error = fault.error.line == recovery.lastLine ? nil : fault.error
    if section.isOneLine, fault.kind != .value {
      // The fault for which the line is read alone has been counted.
      return try resume(from: section.start + 1, skipping: nil)
    }
    switch fault.kind {
    case .structure(let line):
      return try resume(from: max(line, section.start + 1), skipping: error)
    case .yaml where reader.done >= section.start:
      return try resume(from: reader.done + 1, skipping: error)
    case .yaml:
      // The error may be in a later line that libyaml has looked at.
      recovery.count(error)
      guard section.start != recovery.unreadable, let text = source.text(ofLine: section.start),
        let line = LibinputLine(text, isRecognized: isRecognized)
      else { return try resume(from: section.start + 1, skipping: nil) }
      return begin(section.start, line, isOneLine: true)
    case .value, .fatal:
      reader.endValue()
      guard let line = fault.error.line, reader.line > line else {
        recovery.count(error)
        return nil
      }
      // An event that ends in a later line may have swallowed what is between.
      return try resume(from: line + 1, skipping: error)
    }
  }

  /// Goes on with the first line from number `first` on that shows what it is, or ends. Counts
  /// `fault`, if it is a new one.
  mutating func resume(
    from first: Int, skipping fault: RecordingError?
  ) throws(RecordingError) -> Entry? {
    var number = max(first, source.line)
    var unread = 0
    while number != recovery.unreadable || recovery.final == nil,
      let text = source.text(ofLine: number)
    {
      if number == recovery.unreadable {
        recovery.unreadable = nil
      } else if let line = LibinputLine(text, isRecognized: isRecognized) {
        recovery.count(fault)
        return begin(number, line, isOneLine: line.isIndentedByTabs)
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
      let message = "\(fault.message); \(lines) not read"
      recovery.count(RecordingError(message, file: file, line: fault.line))
    } else {
      recovery.count(fault)
    }
    guard isRecognized else { throw notARecording }
    return nil
  }

  /// Begins a section with the line `number`. Returns the end of the report that was being read,
  /// unless the line goes on with it.
  private mutating func begin(_ number: Int, _ line: LibinputLine, isOneLine: Bool) -> Entry? {
    let endsReport = !line.isEvent && context.contains(.report)
    let end: Entry? = endsReport ? .reportEnd(device: devices.number()) : nil
    let prefix = line.prefix(deviceColumn: recovery.deviceColumn, entryColumn: recovery.entryColumn)
    let isAlone = isOneLine || prefix == nil
    let unreadable = recovery.unreadable.flatMap { $0 > number ? $0 : nil }
    reader.begin(
      .init(start: number, end: isAlone ? number + 1 : unreadable, isOneLine: isAlone),
      without: isAlone ? line.column : 0,
      behind: isAlone ? line.prefixOfOne : prefix ?? "")
    context = []
    hasScanCodeOfA = false
    return end
  }
}
