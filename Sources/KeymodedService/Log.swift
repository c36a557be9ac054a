import Glibc
import SystemCalls

/// The daemon's log on standard error, a line each: its life cycle and warnings, never a key.
enum Log {
  /// Logs a normal event.
  static func info(_ message: String) { write(message, priority: 6) }

  /// Logs a problem that the daemon survives.
  static func warning(_ message: String) { write(message, priority: 4) }

  /// The journal adds the program's name and takes the priority from the line, see `sd-daemon(3)`.
  /// On a terminal the line needs the name and no priority.
  private static func write(_ text: String, priority: Int) {
    // A device can have any name, and a line end in it would forge a line.
    if isJournal {
      writeToStandardError("<\(priority)>\(text)\n")
    } else {
      complain("\(text)")
    }
  }

  /// The variable identifies the stream, because child processes inherit it with other streams.
  private static let isJournal: Bool = {
    var status = stat()
    guard let stream = environment("JOURNAL_STREAM"), fstat(STDERR_FILENO, &status) == 0 else {
      return false
    }
    return stream == "\(status.st_dev):\(status.st_ino)"
  }()
}
