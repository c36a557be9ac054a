import CLinux
import Glibc

/// A descriptor that becomes readable when files appear in a folder, when their permissions change,
/// and when the folder is moved or removed. It is for programs without an event loop. See
/// `inotify(7)`.
public final class FolderWatchDescriptor {
  private let file: FileDescriptor

  /// The descriptor to wait on.
  public var descriptor: Int32 { file.number }

  /// Watches the folder at `path`, which this process must be allowed to read.
  public init(_ path: String) throws(SystemError) {
    let number = try retrying("watch", path) { inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC)) }
    file = FileDescriptor(owning: number)
    let mask = IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_MOVE_SELF | IN_ONLYDIR
    try retrying("watch", path) { inotify_add_watch(number, path, UInt32(mask)) }
  }

  /// Whether anything has happened since the last call.
  public func hasChanged() -> Bool {
    (try? readSome(from: descriptor, upTo: 16384) { _ in }) == .bytes
  }
}
