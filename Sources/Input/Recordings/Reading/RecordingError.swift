public import Terminal

/// A fault of a recording, and its file and line.
public struct RecordingError: Error, Hashable, TerminalTextConvertible {
  /// The file's name in messages: its path, or `<stdin>`.
  public let file: String
  /// The line, from 1; `nil` for the whole file, or if it has no lines.
  public let line: Int?
  /// The fault in words.
  public let message: String

  /// A fault with this message, in a line of a file or in the whole file.
  public init(_ message: String, file: String, line: Int? = nil) {
    self.file = file
    self.line = line
    self.message = message
  }

  /// `typing.evemu:17: event code "01zz" is not hexadecimal`
  public var text: TerminalText {
    guard let line else { return "\(file): \(message)" }
    return "\(file):\(line): \(message)"
  }
}

/// An error in one line or record.
struct LineError: Error, Hashable {
  let message: String

  /// Whether the rest of the recording cannot be read either.
  let isFatal: Bool

  init(_ message: String, isFatal: Bool = false) {
    self.message = message
    self.isFatal = isFatal
  }
}

/// The faults of a recording that were skipped.
public struct SkippedFaults: Hashable, Sendable {
  /// The number of faults that were skipped.
  public private(set) var count = 0

  /// The first fault that was skipped; `nil` if there was none.
  public private(set) var first: RecordingError?

  init() {}

  mutating func add(_ error: RecordingError) {
    count += 1
    first = first ?? error
  }

  mutating func add(_ others: SkippedFaults) {
    count += others.count
    first = first ?? others.first
  }
}
