import Glibc
import Linux
import Terminal

/// A socket that clients connect to.
final class ListeningSocket {
  let access: Access
  private let descriptor: FileDescriptor

  /// The file to remove at the end; `nil` if the service manager made the socket.
  private let file: SocketFile?

  var number: Int32 { descriptor.number }

  /// Adopts a socket that is listening already.
  init(_ descriptor: consuming FileDescriptor, access: Access) {
    // The sockets that systemd passes block, and a blocking call would hold up all clients.
    _ = fcntl(descriptor.number, F_SETFL, O_NONBLOCK)
    self.access = access
    self.descriptor = descriptor
    file = nil
  }

  /// Makes a socket at `path`, where no file is.
  init(path: String, access: Access) throws(SystemError) {
    let operation = "listen on"
    let descriptor = try unixSocket(operation, path)
    // The permissions must be right from the moment the socket exists.
    let mask = umask(0o177)
    defer { umask(mask) }
    try bindSocket(descriptor.number, to: path, operation)
    file = SocketFile(path)
    try retrying(operation, path) { listen(descriptor.number, SOMAXCONN) }
    self.access = access
    self.descriptor = descriptor
  }

  deinit { file?.remove() }
}

/// The file of a socket, identified by device and inode: another file may take its path.
private struct SocketFile {
  private let path: String
  private let device: dev_t
  private let inode: ino_t

  /// The file that is at `path` now.
  init?(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    self.path = path
    device = status.st_dev
    inode = status.st_ino
  }

  /// Removes the file if it is still at its path. If the directory was removed and made again,
  /// another daemon's socket may be there.
  func remove() {
    guard let now = SocketFile(path), now.device == device, now.inode == inode else { return }
    unlink(path)
  }
}
