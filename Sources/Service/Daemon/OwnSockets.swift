import Glibc
import System
import Terminal
import Wire

/// The sockets that a daemon makes if the service manager passed none.
struct OwnSockets: ~Copyable {
  let sockets: [ListeningSocket]
  /// Keeps a second daemon from replacing the sockets while this daemon lives.
  private let lock: FileDescriptor

  /// A process serves in this directory already; `process` is `nil` if that process is unknown.
  struct AlreadyServed: Error, TerminalTextConvertible {
    let directory: String
    let process: PeerProcess?

    var text: TerminalText {
      let server: TerminalText = process.map { "\($0)" } ?? "another keymoded"
      return
        "cannot serve in '\(directory)': \(server) serves there; choose another directory with --socket-dir"
    }
  }

  /// Makes both sockets in `directory`, and the directory itself if its parent exists. Replaces
  /// sockets that an ended daemon left behind, and leaves served ones alone. Throws
  /// ``AlreadyServed``, or the `SystemError` of a call that failed.
  init(in directory: String) throws {
    let mode: mode_t = geteuid() == 0 ? 0o755 : 0o700
    if mkdir(directory, mode) < 0, errno != EEXIST { throw SystemError.last("make", directory) }
    let state = "\(directory)/\(SocketDirectory.stateSocket)"
    let control = "\(directory)/\(SocketDirectory.controlSocket)"
    let lock = try Self.lock(directory)
    // A lock is not enough: a service manager's sockets have no lock. Both sockets are checked
    // before either is replaced.
    let occupants = try [state, control].map { try Occupant(of: $0) }
    for case .server(let process) in occupants {
      throw AlreadyServed(directory: directory, process: process)
    }
    guard let lock else { throw AlreadyServed(directory: directory, process: nil) }
    for (path, occupant) in zip([state, control], occupants) where occupant == .abandoned {
      unlink(path)
    }
    sockets = [
      try ListeningSocket(path: state, access: .reading),
      try ListeningSocket(path: control, access: .control),
    ]
    self.lock = lock
  }

  /// Locks a directory until the descriptor is closed; `nil` if another process holds the lock.
  private static func lock(_ directory: String) throws(SystemError) -> FileDescriptor? {
    do throws(SystemError) {
      // A symbolic link could make root create a file anywhere.
      let file = try FileDescriptor.opening(
        "\(directory)/keymoded.lock", flags: O_RDWR | O_CREAT | O_NOFOLLOW)
      let number = file.number
      try retrying("lock") { flock(number, LOCK_EX | LOCK_NB) }
      return file
    } catch {
      switch error.code {
      case EWOULDBLOCK: return nil
      case ELOOP: throw error
      default: throw SystemError("serve in", directory, code: error.code)
      }
    }
  }
}

/// The present file, if any, at the path of a socket that is to be made.
private enum Occupant: Equatable {
  case nothing
  /// A socket on which no process listens any more.
  case abandoned
  /// A socket on which a process listens; `nil` if that process is unknown.
  case server(PeerProcess?)

  /// - Throws: if the path holds anything but a socket, or the check fails.
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
    let socket = try unixSocket(operation, path)
    do throws(SystemError) {
      try connectSocket(socket.number, to: path, operation)
      self = .server(PeerProcess(of: socket.number))
    } catch {
      switch error.code {
      case ECONNREFUSED: self = .abandoned
      // The socket's backlog is full.
      case EAGAIN: self = .server(nil)
      default: throw error
      }
    }
  }
}
