import Glibc
import KeymodeInterface
import SystemCalls
import Systemd

/// A socket that clients connect to.
final class ListeningSocket {
  let access: Access
  private let descriptor: FileDescriptor

  /// The path to remove at the end; `nil` where somebody else made it.
  private let path: String?

  var number: Int32 { descriptor.number }

  /// Takes over a socket that is listening already.
  init(_ descriptor: consuming FileDescriptor, access: Access) {
    // systemd passes sockets that wait, and waiting here would be for all clients at once.
    _ = fcntl(descriptor.number, F_SETFL, O_NONBLOCK)
    self.access = access
    self.descriptor = descriptor
    path = nil
  }

  /// Makes a socket at `path`, in place of what an ended daemon left there.
  init(path: String, access: Access) throws(SystemError) {
    var address = sockaddr_un()
    guard address.set(path: path) else {
      throw SystemError("listen on", path, code: ENAMETOOLONG)
    }
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let descriptor = FileDescriptor(
      owning: try retrying("make", path) { socket(AF_UNIX, type, 0) })
    var status = stat()
    if lstat(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFSOCK else {
        throw SystemError("listen on", path, code: EEXIST)
      }
      unlink(path)
    }
    // Permissions must be right from the first moment that the socket exists.
    let mask = umask(0o177)
    defer { umask(mask) }
    try retrying("listen on", path) {
      withUnsafePointer(to: &address) { address in
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          bind(descriptor.number, address, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
    }
    try retrying("listen on", path) { Glibc.listen(descriptor.number, SOMAXCONN) }
    self.access = access
    self.path = path
    self.descriptor = descriptor
  }

  deinit {
    if let path { unlink(path) }
  }
}

/// The sockets of a daemon that no service manager passed any.
struct OwnSockets {
  let sockets: [ListeningSocket]
  /// Keeps a second daemon from taking the sockets over, for as long as this one lives.
  private let lock: Lock

  private final class Lock {
    private let descriptor: FileDescriptor
    init(in directory: String) throws(SystemError) {
      do throws(SystemError) {
        descriptor = try FileDescriptor.opening(
          "\(directory)/keymoded.lock", flags: O_RDWR | O_CREAT)
        let number = descriptor.number
        try retrying("lock") { flock(number, LOCK_EX | LOCK_NB) }
      } catch {
        throw SystemError("serve in", directory, code: error.code)
      }
    }
  }

  /// Why there are no sockets.
  enum Fault: Error, CustomStringConvertible {
    /// Another daemon serves in this directory.
    case taken(String)
    /// The system refused something.
    case system(SystemError)

    var description: String {
      switch self {
      case .taken(let directory): "another keymoded serves in '\(directory)'"
      case .system(let error): "\(error)"
      }
    }
  }

  /// Makes both sockets in `directory`, which is made where only it is missing.
  init(in directory: String) throws(Fault) {
    let mode: mode_t = geteuid() == 0 ? 0o755 : 0o700
    if mkdir(directory, mode) < 0, errno != EEXIST { throw .system(.last("make", directory)) }
    do throws(SystemError) {
      lock = try Lock(in: directory)
    } catch {
      throw error.code == EWOULDBLOCK ? .taken(directory) : .system(error)
    }
    do throws(SystemError) {
      sockets = [
        try ListeningSocket(path: "\(directory)/\(SocketDirectory.stateSocket)", access: .reading),
        try ListeningSocket(
          path: "\(directory)/\(SocketDirectory.controlSocket)", access: .control),
      ]
    } catch {
      throw .system(error)
    }
  }
}
