import Glibc
import System
import Terminal

/// A socket that clients connect to.
final class ListeningSocket {
  let access: Access
  private let descriptor: FileDescriptor

  /// The file to remove at the end; `nil` if the service manager made the socket.
  private let file: (path: String, identity: [UInt])?

  var number: Int32 { descriptor.number }

  /// Adopts a socket that is listening already.
  init(_ descriptor: consuming FileDescriptor, access: Access) {
    // The sockets that systemd passes block, and a blocking call would hold up all clients.
    _ = fcntl(descriptor.number, F_SETFL, O_NONBLOCK)
    self.access = access
    self.descriptor = descriptor
    file = nil
  }

  /// Makes a socket at `path`, where there must be no file.
  init(path: String, access: Access) throws(SystemError) {
    let operation = "listen on"
    let descriptor = try unixSocket(operation, path)
    // The permissions must be right from the moment the socket exists.
    let mask = umask(0o177)
    defer { umask(mask) }
    try bindSocket(descriptor.number, to: path, operation)
    try retrying(operation, path) { listen(descriptor.number, SOMAXCONN) }
    self.access = access
    self.descriptor = descriptor
    file = (path, Self.identity(path))
  }

  /// Removes the socket's file. If the directory was replaced, the path may name the socket of
  /// another daemon by now; then that file stays.
  deinit { if let file, Self.identity(file.path) == file.identity { unlink(file.path) } }

  /// The device and the inode of the file at a path; empty if there is none.
  private static func identity(_ path: String) -> [UInt] {
    var status = stat()
    return lstat(path, &status) == 0 ? [UInt(status.st_dev), UInt(status.st_ino)] : []
  }
}
