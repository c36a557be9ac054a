import EventRecordings
import Glibc
import SystemCalls

/// The progress of a long replay, as a line on the terminal. It is shown only if standard error is a
/// terminal and standard output is not, so that it never mixes with other output.
struct Progress {
  private let isShown: Bool
  private var inputs = 0
  private var due: Int64
  private var hasLine = false

  /// How many recordings there are that are replayed one by one, and how many were.
  private let count: Int
  private var done = 0

  /// - Parameter count: the number of recordings that are replayed one by one.
  init(ofRecordings count: Int = 1) {
    self.count = count
    let terminal = environment("TERM") ?? "dumb"
    isShown = isatty(STDERR_FILENO) == 1 && isatty(STDOUT_FILENO) == 0 && terminal != "dumb"
    due = isShown ? microsecondsSinceBoot() + 500_000 : 0
  }

  /// Shows the progress after half a second, and then five times a second. Since the last call,
  /// `count` inputs were replayed.
  mutating func update(_ recording: borrowing Recording, after count: Int) {
    guard isShown else { return }
    inputs += count
    guard inputs >= 4096 else { return }
    inputs = 0
    let now = microsecondsSinceBoot()
    guard now >= due else { return }
    due = now + 200_000
    hasLine = true
    writeToStandardError("\r\(text(recording)) replayed")
  }

  private func text(_ recording: borrowing Recording) -> String {
    if count > 1 { return "\(done) of \(count) recordings" }
    return recording.shareRead.map { "\(Int($0 * 100)) %" } ?? "\(recording.bytesRead >> 20) MiB"
  }

  /// Counts a recording that was replayed.
  mutating func countRecording() { done += 1 }

  /// Removes the line, for as long as the progress is not updated.
  mutating func hide() {
    if hasLine { writeToStandardError("\r\u{1b}[K") }
    hasLine = false
  }
}
