import Glibc
import KeymodeInterface
import SystemCalls

/// The sockets of a daemon to which no service manager passed any.
struct OwnSockets {
  let sockets: [ListeningSocket]
  /// Keeps a second daemon from taking the sockets over, for as long as this one lives.
  private let lock: Lock

  /// A process serves in this folder already: this one, where that is known.
  struct Served: Error, TerminalTextConvertible {
    let directory: String
    let process: PeerProcess?

    var text: TerminalText {
      let server: TerminalText = process.map { "\($0)" } ?? "another keymoded"
      return
        "cannot serve in '\(directory)': \(server) serves there; choose another folder with --socket-dir"
    }
  }

  /// Makes both sockets in `directory`, which is made where only it is missing. Sockets that an ended
  /// daemon left there are replaced; those that are served are left alone.
  ///
  /// - Throws: ``Served``, or the `SystemError` of a call that failed.
  init(in directory: String) throws {
    let mode: mode_t = geteuid() == 0 ? 0o755 : 0o700
    if mkdir(directory, mode) < 0, errno != EEXIST { throw SystemError.last("make", directory) }
    let state = "\(directory)/\(SocketDirectory.stateSocket)"
    let control = "\(directory)/\(SocketDirectory.controlSocket)"
    let lock = try Lock(in: directory)
    // The sockets of a service manager have no lock. Both are looked at before one is touched.
    let occupants = try [state, control].map { try Occupant(of: $0) }
    for case .server(let process) in occupants {
      throw Served(directory: directory, process: process)
    }
    guard let lock else { throw Served(directory: directory, process: nil) }
    for (path, occupant) in zip([state, control], occupants) where occupant == .abandoned {
      unlink(path)
    }
    sockets = [
      try ListeningSocket(path: state, access: .reading),
      try ListeningSocket(path: control, access: .control),
    ]
    self.lock = lock
  }
}

/// A lock on a folder, held until the value ends.
private final class Lock {
  private let descriptor: FileDescriptor

  /// - Returns: `nil` where another process holds the lock.
  init?(in directory: String) throws(SystemError) {
    do throws(SystemError) {
      // A link would make root create a file wherever it leads.
      descriptor = try FileDescriptor.opening(
        "\(directory)/keymoded.lock", flags: O_RDWR | O_CREAT | O_NOFOLLOW)
      let number = descriptor.number
      try retrying("lock") { flock(number, LOCK_EX | LOCK_NB) }
    } catch {
      switch error.code {
      case EWOULDBLOCK: return nil
      case ELOOP: throw error
      default: throw SystemError("serve in", directory, code: error.code)
      }
    }
  }
}

/// What is at a path where a socket is to be made.
private enum Occupant: Equatable {
  case nothing
  /// A socket on which no process listens any more.
  case abandoned
  /// A socket on which a process listens: this one, where that is known.
  case server(PeerProcess?)

  /// - Throws: where anything but a socket is there, or it cannot be told whether a process listens.
  init(of path: String) throws(SystemError) {
    let operation = "listen on"
    var status = stat()
    guard lstat(path, &status) == 0 else {
      guard errno == ENOENT else { throw .last(operation, path) }
      self = .nothing
      return
    }
    guard status.st_mode & S_IFMT == S_IFSOCK else {
      throw SystemError(operation, path, code: EEXIST)
    }
    let socket = try unixSocket(operation, path, isNonblocking: true)
    do throws(SystemError) {
      try withUnixAddress(path, operation) { connect(socket.number, $0, $1) }
      self = .server(PeerProcess(of: socket.number))
    } catch {
      switch error.code {
      case ECONNREFUSED: self = .abandoned
      // More clients wait to be accepted than the socket has room for.
      case EAGAIN: self = .server(nil)
      default: throw error
      }
    }
  }
}
