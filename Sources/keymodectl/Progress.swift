import EventRecordings
import Glibc
import SystemCalls
import Systemd

/// A line on the terminal that tells how far a long replay is, where it is not in the way.
struct Progress {
  private var isShown: Bool
  private var inputs = 0
  private var due: Int64
  private var hasLine = false

  init() {
    let terminal = environment("TERM") ?? "dumb"
    isShown = isatty(STDERR_FILENO) == 1 && isatty(STDOUT_FILENO) == 0 && terminal != "dumb"
    due = isShown ? microsecondsSinceBoot() + 500_000 : 0
  }

  /// Tells it, where that was long ago.
  ///
  /// - Parameter count: how many more inputs were replayed.
  mutating func update(_ recording: borrowing Recording, after count: Int) {
    guard isShown else { return }
    inputs += count
    guard inputs >= 4096 else { return }
    inputs = 0
    let now = microsecondsSinceBoot()
    guard now >= due else { return }
    due = now + 200_000
    hasLine = true
    let share = recording.shareRead.map { "\(Int($0 * 100)) %" }
    writeToStandardError("\r\(share ?? "\(recording.bytesRead >> 20) MiB") replayed")
  }

  /// Takes the line away.
  mutating func end() {
    if hasLine { writeToStandardError("\r\u{1b}[K") }
    isShown = false
  }
}
