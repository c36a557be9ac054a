import Glibc
import Linux
import Terminal

/// Notices, by inotify, that a missing socket may have appeared: that there is something new in its
/// directory or, if that is missing too, in the nearest parent that exists.
final class SocketWatch {
  private let file: FileDescriptor

  /// The descriptor to wait on for reading; then ask for ``hasNews``.
  var descriptor: Int32 { file.number }

  /// Watches for the socket at `path`; `nil` if inotify refuses a watch.
  init?(_ path: String) {
    let number = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    guard number >= 0 else { return nil }
    file = FileDescriptor(owning: number)
    guard watch(path, by: number) else { return nil }
  }

  /// Whether an attempt to connect may succeed now that could not before. Reads all pending events.
  var hasNews: Bool {
    var found = false
    while case .bytes = try? readSome(from: descriptor, upTo: 4096, { _ in found = true }) {}
    return found
  }
}

/// Watches the nearest directory that exists on the way to `path`, and returns whether it can.
private func watch(_ path: String, by inotify: Int32) -> Bool {
  // IN_ATTRIB for permissions: a socket may exist before this user may use it.
  let mask = UInt32(IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR)
  var parts = path.split(separator: "/", omittingEmptySubsequences: true)[...]
  let root = path.hasPrefix("/") ? "/" : "./"
  while parts.popLast() != nil {
    if inotify_add_watch(inotify, root + parts.joined(separator: "/"), mask) >= 0 { return true }
    guard errno == ENOENT || errno == ENOTDIR else { return false }
  }
  return false
}
