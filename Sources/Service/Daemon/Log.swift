import Glibc
import Synchronization
import System
import Terminal

/// The daemon's log on standard error: lines about its life cycle and warnings, never keys.
///
/// The daemon does not wait for a reader of its log. If standard error has no room for a line, the
/// line is lost. A later line says how many lines were lost.
enum Log {
  /// Logs a normal event.
  static func info(_ message: String) { write(message, priority: 6) }

  /// Logs a problem that the daemon survives.
  static func warning(_ message: String) { write(message, priority: 4) }

  /// How many lines were lost and have not been counted by a written line yet.
  private static let lost = Atomic(0)

  private static func write(_ text: String, priority: Int) {
    let count = lost.load(ordering: .relaxed)
    if count > 0 {
      let loss = "standard error was full; lines of this log that were lost: \(count)"
      if writeToStandardErrorWithoutWaiting(logLine(loss, priority: 4)) {
        lost.store(0, ordering: .relaxed)
      }
    }
    if !writeToStandardErrorWithoutWaiting(logLine(text, priority: priority)) {
      lost.add(1, ordering: .relaxed)
    }
  }

  /// The journal adds the program's name and takes the priority from the line, see `sd-daemon(3)`.
  /// On a terminal the line needs the name and no priority.
  private static func logLine(_ text: String, priority: Int) -> TerminalText {
    // A line end in a device's name could forge a line of the log; interpolation replaces it.
    isJournal ? "<\(priority)>\(text)\n" : "\(programName): \(text)\n"
  }

  /// Whether standard error is the journal's stream. The variable `JOURNAL_STREAM` is not enough: a
  /// service's child process inherits it, but may have another file as standard error.
  private static let isJournal: Bool = {
    var status = stat()
    guard let stream = environment("JOURNAL_STREAM"), fstat(STDERR_FILENO, &status) == 0 else {
      return false
    }
    return stream == "\(status.st_dev):\(status.st_ino)"
  }()
}
