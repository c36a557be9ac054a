import KeyboardModes
import YAML

/// The text of a libinput recording. It keeps the lines that may have to be read again, because a
/// damaged text is read in several sections.
final class LibinputSource {
  private var input: InputReader

  /// Why the file could not be read, if so.
  private(set) var failure: String?

  /// Whether a comment says that keys were obfuscated; libyaml skips comments.
  private(set) var hasObfuscationMark = false

  /// The kept text, which begins with line `line`.
  private var text: [UInt8] = []
  private(set) var line = 1
  private var isAtEnd = false

  /// The last line that will not be read again.
  var doneLine = 0

  /// The rest of the prefix, which is read before the text from `position` to `limit`.
  private var prefix: ArraySlice<UInt8> = []
  private var position = 0
  private var limit: Int?

  /// Whether the line before `position` is the last that was read, and begins a report.
  private(set) var isInReport = false

  /// A line behind `line`, and where in the text it begins, if that is known.
  private var known: (line: Int, index: Int)?

  /// Where in the text the section began, and the size of the whole prefix.
  private var start = 0
  private var prefixSize = 0

  private static let chunk = 65536

  init(_ input: consuming InputReader) { self.input = input }

  var bytesTaken: Int { input.bytesTaken }

  /// Fills the buffer with the next bytes of the section, and returns how many; 0 at the end; `nil`
  /// if the file cannot be read.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    if prefix.isEmpty, limit == nil, position == text.count, !fetch() {
      return failure == nil ? 0 : nil
    }
    let next = prefix.isEmpty ? text[position..<(limit ?? text.count)] : prefix
    // What is behind the first line of a report may be left out. It ends a part also if nothing is
    // left out, so that libyaml finds the same faults.
    let end = prefix.isEmpty && limit == nil ? endOfReportStart(position..<text.count) : nil
    let count = min(buffer.count, end ?? next.count)
    isInReport = count == end
    buffer.copyBytes(from: next.prefix(count))
    if prefix.isEmpty { position += count } else { prefix = prefix.dropFirst(count) }
    return count
  }

  /// Parses the regular reports that are in memory, and leaves them out of what is read.
  ///
  /// - Parameter report: the number of the line before, which is the first of a report.
  /// - Returns: the key events and the number of the lines; `nil` if there are no regular reports.
  func keys(
    of report: Int, with reports: inout RegularReports
  ) -> (events: [KeyEvent], lines: Int)? {
    let found = text.withUnsafeBytes { bytes in
      RegularText(withMargin: UnsafeRawBufferPointer(rebasing: bytes[position...]))?
        .keys { reports.parse($0, into: $1) }
    }
    guard let (events, length) = found, length.parts > 0 else { return nil }
    position += length.bytes
    // Nothing of it is counted in the offsets of libyaml.
    start += length.bytes
    known = (report + length.parts, position - RegularReports.start.utf8CodeUnitCount)
    return (events, length.parts)
  }

  /// The end of the first line of the first report in `text`; `nil` if none begins there.
  private func endOfReportStart(_ range: Range<Int>) -> Int? {
    let mark: StaticString = "\n  - evdev:\n"
    return text.withUnsafeBytes { bytes in
      let next = UnsafeRawBufferPointer(rebasing: bytes[range])
      return next.firstOffset(of: mark).map { $0 + mark.utf8CodeUnitCount }
    }
  }

  /// Begins a section: `prefix`, then the lines from number `first` to the one before `end`.
  ///
  /// - Parameter indentation: how many bytes of the first line are left out.
  func restart(at first: Int, before end: Int?, without indentation: Int, behind prefix: String) {
    (limit, isInReport) = (nil, false)
    if let end {
      position = text.count
      limit = index(ofLine: end)
    }
    position = min(index(ofLine: first) + indentation, limit ?? text.count)
    start = position
    self.prefix = Array(prefix.utf8)[...]
    prefixSize = prefix.utf8.count
  }

  /// The number of the line with the byte at `offset` of the section and its prefix.
  func line(ofByte offset: Int) -> Int {
    let target = start + offset - prefixSize
    var (line, index) = (line, 0)
    while let end = endOfLine(from: index), end <= target { (line, index) = (line + 1, end) }
    return line
  }

  /// The line with this number, or its beginning if it is very long; `nil` behind the last line.
  /// The lines before it are no longer kept.
  func text(ofLine number: Int) -> ArraySlice<UInt8>? {
    (doneLine, limit, position) = (number - 1, nil, text.count)
    while true {
      forget()
      if line == number, let end = endOfLine(from: 0) { return text[..<end] }
      if line == number, text.count > InputReader.longestLine { return text[...] }
      guard fetch() else { return line == number && !text.isEmpty ? text[...] : nil }
      position = text.count
    }
  }

  private func fetch() -> Bool {
    guard !isAtEnd, failure == nil else { return false }
    forget()
    do throws(RecordingError) {
      let next = try input.take(atMost: Self.chunk)
      if !hasObfuscationMark { hasObfuscationMark = next.firstOffset(of: "(obfuscated)") != nil }
      text.append(contentsOf: next)
      isAtEnd = next.isEmpty
      return !isAtEnd
    } catch {
      failure = error.message
      return false
    }
  }

  /// Removes the text that has been read and will not be read again.
  private func forget() {
    var index = 0
    if let known, known.line <= doneLine + 1 { (line, index) = known }
    known = nil
    while line <= doneLine, let end = endOfLine(from: index), end <= position {
      (line, index) = (line + 1, end)
    }
    // One line can be as long as the recording. A line end has at most three bytes.
    if line <= doneLine { index = max(index, position - 2) }
    text.removeFirst(index)
    position -= index
    start -= index
    limit? -= index
  }

  private func index(ofLine number: Int) -> Int {
    var (line, index) = (line, 0)
    while line < number {
      guard let end = endOfLine(from: index) else {
        guard !isAtEnd, fetch() else { return text.count }
        (line, index) = (self.line, 0)
        continue
      }
      (line, index) = (line + 1, end)
    }
    return index
  }

  private func endOfLine(from index: Int) -> Int? {
    text.withUnsafeBytes { $0.endOfLine(from: index, isComplete: isAtEnd) }
  }
}
