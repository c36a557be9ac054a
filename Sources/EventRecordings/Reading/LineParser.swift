import KeyboardModes

/// Parses the lines of a text format.
protocol LineParser {
  /// A parser that has read nothing yet.
  init()

  /// Parses one line.
  ///
  /// - Parameter isTerminated: whether a line end follows the line. The last line may be
  ///   incomplete.
  /// - Returns: what the line says of key events, if anything.
  /// - Throws: if the line is invalid.
  mutating func parse(
    _ line: UnsafeRawBufferPointer, isTerminated: Bool
  ) throws(LineFault) -> Entry?

  /// Whether only this format has such a line: an event, or what the tool writes before the first.
  static func claims(_ line: UnsafeRawBufferPointer) -> Bool

  /// Whether the format has a fast path: ``parseRegular(_:into:)``.
  static var hasRegularLines: Bool { get }

  /// Parses lines for as long as each is exactly as the recording tool writes it, and is a key
  /// event or says nothing. The results are those of ``parse(_:isTerminated:)``. It may be called
  /// only if ``EntryInterpreter/isPlain`` is true.
  mutating func parseRegular(
    _ text: RegularText, into events: UnsafeMutableBufferPointer<KeyEvent>
  ) -> RegularText.Length

  /// Whether a line was found that only this format has.
  var isRecognized: Bool { get }

  /// Whether the last line was the first part of an event that goes on in the next line.
  var isUnfinished: Bool { get }

  /// Returns a warning for the user, once.
  mutating func takeWarning() -> String?
}

extension LineParser {
  static func claims(_ line: UnsafeRawBufferPointer) -> Bool { isRecognized(line) }

  /// Whether the parser recognizes its format by this line alone.
  static func isRecognized(_ line: UnsafeRawBufferPointer) -> Bool {
    var parser = Self()
    _ = try? parser.parse(line, isTerminated: true)
    return parser.isRecognized
  }

  static var hasRegularLines: Bool { false }
  mutating func parseRegular(
    _ text: RegularText, into events: UnsafeMutableBufferPointer<KeyEvent>
  ) -> RegularText.Length {
    RegularText.Length()
  }

  var isUnfinished: Bool { false }
  mutating func takeWarning() -> String? { nil }
}
