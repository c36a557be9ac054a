import Glibc
import SystemCalls

/// The daemon's log: its life-cycle and warnings, a line each, on standard error. Never a key.
enum Log {
  /// Something happened that belongs to normal life.
  static func info(_ message: String) { write(message, priority: 6) }

  /// Something is not as it should be, and the daemon goes on.
  static func warning(_ message: String) { write(message, priority: 4) }

  /// The journal adds the name of the program by itself, and takes the priority from the line:
  /// `sd-daemon(3)`. A person at a terminal wants the one and not the other.
  private static func write(_ text: String, priority: Int) {
    // A device can call itself anything: a line end would forge a line.
    if isJournal {
      writeToStandardError("<\(priority)>\(text)\n")
    } else {
      complain("\(text)")
    }
  }

  /// The variable names the stream, since programs further down inherit it with other streams.
  private static let isJournal: Bool = {
    var status = stat()
    guard let stream = environment("JOURNAL_STREAM"), fstat(STDERR_FILENO, &status) == 0 else {
      return false
    }
    return stream == "\(status.st_dev):\(status.st_ino)"
  }()
}
