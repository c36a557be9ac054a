import Glibc
import Linux
public import Terminal

/// A file that names the sessions whose Caps Lock is ours, for the next process. It is locked while
/// this object lasts: two virtual keyboards would undo each other's taps.
public final class ShiftMemory {
  private static let size = 4096
  private let file: FileDescriptor

  /// Opens the file in `folder`, or makes both.
  ///
  /// - Throws: the error of `open`, and `EWOULDBLOCK` if another process has the file.
  public init(in folder: String) throws(SystemError) {
    mkdir(folder, 0o755)
    file = try .opening("\(folder)/ours", flags: O_RDWR | O_CREAT)
    let number = file.number
    do {
      try retrying("lock") { flock(number, LOCK_EX | LOCK_NB) }
    } catch {
      throw SystemError(
        "make a virtual keyboard", code: error.code,
        reason: "another 'keymodectl shift' runs")
    }
  }

  /// The names of the sessions.
  public func read() throws(SystemError) -> Set<String> {
    var bytes = [UInt8](repeating: 0, count: Self.size)
    let number = file.number
    let count = try retrying("read", "ours") { pread(number, &bytes, Self.size, 0) }
    return Set(
      bytes.prefix(count).prefix { $0 != 0 }.split(separator: UInt8(ascii: "\n"))
        .map { String(decoding: $0, as: UTF8.self) })
  }

  /// Replaces the names by one call, so that a process that is killed leaves the old or the new.
  public func write(_ sessions: Set<String>) throws(SystemError) {
    let text = Array(sessions.sorted().map { "\($0)\n" }.joined().utf8).prefix(Self.size - 1)
    let bytes = text + [0]
    let number = file.number
    try retrying("write", "ours") {
      bytes.withUnsafeBytes { pwrite(number, $0.baseAddress, $0.count, 0) }
    }
  }
}
