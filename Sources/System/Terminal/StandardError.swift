import Glibc

/// Why a program's arguments are invalid.
public struct UsageError: Error, Hashable, TerminalTextConvertible {
  /// What is wrong, in a few words.
  public let text: TerminalText

  /// The error with this text.
  public init(_ text: TerminalText) { self.text = text }
}

/// The name of this program as the caller wrote it, without its folder.
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
public func printToStandardError(_ message: TerminalText) {
  writeToStandardError("\(programName): \(message)\n")
}

/// Writes an error about a file to standard error. The program's name comes first, unless the error
/// begins with its place in the file, as a compiler's does.
public func printToStandardError(_ error: some TerminalTextConvertible, isLocated: Bool) {
  if isLocated { writeToStandardError("\(error)\n") } else { printToStandardError(error.text) }
}

/// Writes `text` to standard error.
public func writeToStandardError(_ text: TerminalText) {
  var text = text.description
  _ = text.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

/// Writes `text`, at most `PIPE_BUF` bytes of it, to standard error, unless that would wait for
/// a reader.
///
/// The open file may be shared, for example with a shell, so it must not be made non-blocking. A
/// pipe that is ready takes `PIPE_BUF` bytes at once.
///
/// - Returns: `false` if writing would have to wait.
public func writeToStandardErrorWithoutWaiting(_ text: TerminalText) -> Bool {
  var entry = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
  guard poll(&entry, 1, 0) != 0 else { return false }
  var text = text.description
  _ = text.withUTF8 { write(STDERR_FILENO, $0.baseAddress, min($0.count, Int(PIPE_BUF))) }
  return true
}
