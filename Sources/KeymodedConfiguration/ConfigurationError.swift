public import SystemCalls
public import YAML

/// What is wrong with a configuration file, and where.
public struct ConfigurationError: Error, Hashable, TerminalTextConvertible {
  /// The file, as the user named it.
  public let file: String
  /// The place; `nil` where the whole file is meant.
  public let mark: Mark?
  /// What is wrong, in words.
  public let message: String

  /// `keymoded.yaml:3:14: unknown key …`
  public var text: TerminalText {
    guard let mark else { return "\(file): \(message)" }
    return "\(file):\(mark.line):\(mark.column): \(message)"
  }
}

/// All that is wrong with a configuration file, in the order of the file; never empty.
public struct ConfigurationErrors: Error, Hashable, TerminalTextConvertible {
  /// What is wrong.
  public let errors: [ConfigurationError]

  /// A line for each.
  public var text: TerminalText { errors.map(\.text).joined(separator: "\n") }
}
