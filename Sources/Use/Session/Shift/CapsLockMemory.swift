import Glibc
public import System
import Terminal

/// A file with the names of the sessions whose Caps Lock is ours, for the next process. The file is
/// locked while this object lasts: two virtual keyboards would undo each other's taps.
public final class CapsLockMemory {
  private let file: FileDescriptor

  /// Opens the file in `folder`. Makes the folder and the file if they are missing. Throws the
  /// error of `open`, or of `flock` if another process has locked the file.
  public init(in folder: String) throws(SystemError) {
    mkdir(folder, 0o755)
    // The service's user owns the folder. If root runs this by hand, it must follow no link there.
    file = try .opening("\(folder)/ours", flags: O_RDWR | O_CREAT | O_NOFOLLOW)
    guard flock(file.number, LOCK_EX | LOCK_NB) == 0 else {
      throw SystemError(
        "make a virtual keyboard", code: errno, reason: "another 'keymodectl shift' runs")
    }
  }

  /// The names of the sessions.
  public func read() throws(SystemError) -> Set<String> {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let number = file.number
    let count = try retrying("read", "ours") { pread(number, &bytes, bytes.count, 0) }
    let lines = bytes.prefix(count).prefix { $0 != 0 }.split(separator: UInt8(ascii: "\n"))
    return Set(lines.map { String(decoding: $0, as: UTF8.self) })
  }

  /// Writes the names, and a NUL behind them, in one call: a process that is killed leaves either
  /// the old names or the new ones.
  public func write(_ sessions: Set<String>) throws(SystemError) {
    let text = sessions.sorted().map { "\($0)\n" }.joined() + "\0"
    let number = file.number
    try retrying("write", "ours") { pwrite(number, text, text.utf8.count, 0) }
  }
}
