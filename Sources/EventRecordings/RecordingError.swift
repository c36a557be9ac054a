public import SystemCalls

/// Why a recording cannot be used, and where.
public struct RecordingError: Error, Hashable, TerminalTextConvertible {
  /// The file, as the user named it.
  public let file: String
  /// The line, from 1; `nil` where the whole file is meant.
  public let line: Int?
  /// What is wrong, in words.
  public let message: String

  /// The error with these parts.
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

/// What is wrong with one line.
struct LineFault: Error, Hashable {
  let message: String
  init(_ message: String) { self.message = message }
}
