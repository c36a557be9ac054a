import Glibc
package import SystemCalls

/// Notices, by inotify, that a missing socket has appeared.
///
/// If the socket's directory is missing too, this watches the nearest parent that exists.
package final class SocketWatch: Sendable {
  private let descriptor: FileDescriptor
  private let name: String

  /// Watches for the socket at `path`; `nil` if inotify refuses a watch.
  package convenience init?(_ path: String) {
    let number = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    guard number >= 0 else { return nil }
    let descriptor = FileDescriptor(owning: number)
    // IN_ATTRIB for permissions: a socket may exist before this user may use it.
    let mask = UInt32(IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR)
    var parts = path.split(separator: "/", omittingEmptySubsequences: true)[...]
    let root = path.hasPrefix("/") ? "/" : "./"
    while let last = parts.popLast() {
      if inotify_add_watch(number, root + parts.joined(separator: "/"), mask) >= 0 {
        self.init(descriptor, name: String(last))
        return
      }
      guard errno == ENOENT || errno == ENOTDIR else { return nil }
    }
    return nil
  }

  private init(_ descriptor: consuming FileDescriptor, name: String) {
    self.descriptor = descriptor
    self.name = name
  }

  /// Waits until an attempt to connect may succeed, but at most until `deadline`.
  package func wait(
    until deadline: ContinuousClock.Instant, isolation: isolated (any Actor)? = #isolation
  ) async throws(SystemError) -> Poller.WaitResult {
    while true {
      let result = try await Poller.shared.wait(toRead: descriptor.number, until: deadline)
      guard result == .ready, !hasNews else { return result }
    }
  }

  /// Reads all pending events, and returns whether one of them may concern the socket.
  private var hasNews: Bool {
    var found = false
    while case .bytes = try? readSome(
      from: descriptor.number, upTo: 4096, { found = concernsSocket($0) || found })
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
