import KeyboardModes

/// Parses the lines of a text format, or the records of a binary one.
protocol EntryParser {
  /// The size of a record, in bytes; `nil` if the format has lines.
  var recordSize: Int? { get }

  /// Whether a line was found that only this format has.
  var isRecognized: Bool { get }

  /// Whether the last line was the first part of an event that goes on in the next line.
  var isUnfinished: Bool { get }

  /// Parses one line or record.
  ///
  /// - Parameter isTerminated: whether it is complete: whether a line end follows the line.
  /// - Returns: what the line says of key events, if anything.
  mutating func parse(
    _ line: UnsafeRawBufferPointer, isTerminated: Bool
  ) throws(LineFault) -> Entry?

  /// Whether the format has a fast path: ``parseRegular(_:into:)``.
  static var hasRegularLines: Bool { get }

  /// Parses lines for as long as each is exactly as the recording tool writes it, and is a key
  /// event or says nothing. The results are those of ``parse(_:isTerminated:)``. It may be called
  /// only if ``EntryInterpreter/isPlain`` is true.
  mutating func parseRegular(
    _ text: RegularText, into events: UnsafeMutableBufferPointer<KeyEvent>
  ) -> RegularText.Length
}

extension EntryParser {
  var recordSize: Int? { nil }
  var isUnfinished: Bool { false }

  /// Whether the parser recognizes its format by this line alone.
  func recognizes(_ line: UnsafeRawBufferPointer) -> Bool {
    var parser = self
    _ = try? parser.parse(line, isTerminated: true)
    return parser.isRecognized
  }

  static var hasRegularLines: Bool { false }
  mutating func parseRegular(
    _ text: RegularText, into events: UnsafeMutableBufferPointer<KeyEvent>
  ) -> RegularText.Length {
    RegularText.Length()
  }
}
