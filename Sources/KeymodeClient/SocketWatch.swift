import Glibc
import Linux
import Terminal

/// Notices, by inotify, that a missing socket has appeared.
///
/// If the socket's directory is missing too, this watches the nearest parent that exists.
package final class SocketWatch {
  private let file: FileDescriptor
  private let name: String

  /// The descriptor to wait on for reading; then ask for ``hasNews``.
  package var descriptor: Int32 { file.number }

  /// Watches for the socket at `path`; `nil` if inotify refuses a watch.
  package convenience init?(_ path: String) {
    let number = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    guard number >= 0 else { return nil }
    let file = FileDescriptor(owning: number)
    guard let name = watchedName(path, by: number) else { return nil }
    self.init(file, name)
  }

  private init(_ file: consuming FileDescriptor, _ name: String) {
    self.file = file
    self.name = name
  }

  /// Whether an attempt to connect may succeed now that could not before. Reads all pending events.
  package var hasNews: Bool {
    var found = false
    while case .bytes = try? readSome(
      from: descriptor, upTo: 4096, { found = concernsSocket($0) || found })
    {}
    return found
  }

  private func concernsSocket(_ events: UnsafeRawBufferPointer) -> Bool {
    let header = MemoryLayout<inotify_event>.size
    var offset = 0
    while offset + header <= events.count {
      let event = events.load(fromByteOffset: offset, as: inotify_event.self)
      let end = offset + header + Int(event.len)
      let bytes = events[offset + header..<end].prefix { $0 != 0 }
      // An event without a name is about the directory itself, or says that events were lost.
      if bytes.isEmpty || bytes.elementsEqual(name.utf8) { return true }
      offset = end
    }
    return false
  }
}

/// Watches the nearest directory that exists on the way to `path`, and returns the name that is awaited
/// in it.
private func watchedName(_ path: String, by inotify: Int32) -> String? {
  // IN_ATTRIB for permissions: a socket may exist before this user may use it.
  let mask = UInt32(IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR)
  var parts = path.split(separator: "/", omittingEmptySubsequences: true)[...]
  let root = path.hasPrefix("/") ? "/" : "./"
  while let last = parts.popLast() {
    if inotify_add_watch(inotify, root + parts.joined(separator: "/"), mask) >= 0 {
      return String(last)
    }
    guard errno == ENOENT || errno == ENOTDIR else { return nil }
  }
  return nil
}
