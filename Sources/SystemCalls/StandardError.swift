import Glibc

/// Why a program's arguments are invalid.
public struct UsageError: Error, Hashable, TerminalTextConvertible {
  /// What is wrong, in a few words.
  public let text: TerminalText

  /// The error with this text.
  public init(_ text: TerminalText) { self.text = text }
}

/// The name by which this program was called, without its folder.
public let programName: String = {
  let path = CommandLine.arguments.first ?? "keymoded"
  return path.split(separator: "/").last.map(String.init) ?? path
}()

/// Joins words into a list, such as `a, b and c`.
public func listed(_ words: [String], _ conjunction: String = "and") -> String {
  guard words.count > 1, let last = words.last else { return words.joined() }
  return "\(words.dropLast().joined(separator: ", ")) \(conjunction) \(last)"
}

/// Writes `program: message` to standard error.
public func complain(_ message: TerminalText) {
  writeToStandardError("\(programName): \(message)\n")
}

/// Writes `text` to standard error.
public func writeToStandardError(_ text: TerminalText) {
  var text = text.description
  _ = text.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
