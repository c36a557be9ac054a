import KeyboardModes
import YAML

/// Reads the YAML of a libinput recording in sections, and knows which lines need not be read
/// again.
///
/// libyaml stops at an error. So the text behind an error is a section of its own, with an
/// `EventStream` of its own, and a prefix that makes a document of it.
struct LibinputReader {
  /// The lines that one `EventStream` reads.
  struct Section {
    /// The first line; 0 for the whole text.
    var start = 0
    /// The line behind the last one; `nil` if the section goes on to the end of the text.
    var end: Int?
    /// Whether it is one line, which is read without its indentation.
    var isOneLine = false
  }

  let source: LibinputSource
  private(set) var section = Section()
  private var yaml: EventStream

  /// The line of the scalar that was read last.
  private(set) var line = 0

  /// The last line of the section that a scalar was read of.
  private var reached = 0

  /// The first line of the event or note that is being read.
  private var openLine: Int?

  /// The last line of which an event was taken.
  private var lastTaken = 0

  init(_ input: consuming InputReader) {
    let source = LibinputSource(input)
    self.source = source
    yaml = EventStream { source.read(into: $0) }
  }

  /// The last line that need not be read again.
  var done: Int {
    guard let openLine, openLine > lastTaken else { return reached }
    return openLine - 1
  }

  /// Whether the text has been read to its end.
  var hasReachedEnd: Bool { yaml.hasReachedEnd }

  /// Whether `part` is one of the text, not of a prefix.
  func isInText(_ part: EventStream.Event) -> Bool { part.mark.line >= section.start }

  /// The next part of the YAML.
  mutating func next() throws(YAMLError) -> EventStream.Event {
    let part = try yaml.next()
    // Only the lines of scalars count: libyaml says that a list ends where the next thing begins.
    if part.kind == .scalar, isInText(part) {
      line = part.mark.line
      reached = max(reached, line)
      source.doneLine = done
    }
    return part
  }

  /// Parses the next regular reports, and leaves them out of the text of libyaml.
  ///
  /// - Returns: the key events and the number of their lines; `nil` if libyaml does not stand before
  ///   a report, or no regular one follows.
  mutating func skipReports(with reports: inout RegularReports) -> [KeyEvent]? {
    guard source.isInReport, yaml.isBehindDash(inColumn: 2, before: " evdev:\n"),
      let (events, lines) = source.keys(of: yaml.line, with: &reports)
    else { return nil }
    line = yaml.line + reports.found.linesToLastEvent
    (reached, lastTaken) = (line, line)
    yaml.skip(lines: lines)
    source.doneLine = done
    return events
  }

  /// Begins an event or a note: until its end, its lines may have to be read again.
  mutating func beginValue(_ part: EventStream.Event) {
    openLine = part.mark.line
    source.doneLine = done
  }

  /// Ends the value that ``beginValue(_:)`` began.
  mutating func endValue() { openLine = nil }

  /// Ends the value as an event that must not be read again.
  mutating func endEvent() {
    openLine = nil
    lastTaken = line
  }

  /// Goes on with another section, which is read behind `prefix` and without the first bytes.
  mutating func begin(_ section: Section, without indentation: Int, behind prefix: String) {
    self.section = section
    reached = section.start - 1
    openLine = nil
    source.doneLine = reached
    source.restart(at: section.start, before: section.end, without: indentation, behind: prefix)
    let firstLine = section.start - prefix.utf8.count { $0 == UInt8(ascii: "\n") }
    yaml = EventStream(firstLine: firstLine) { [source] in source.read(into: $0) }
  }
}
