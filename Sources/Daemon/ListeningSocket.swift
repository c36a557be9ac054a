import Glibc
import Linux

/// A socket that clients connect to.
final class ListeningSocket {
  let access: Access
  private let descriptor: FileDescriptor

  var number: Int32 { descriptor.number }

  /// Takes over a socket that is listening already.
  init(_ descriptor: consuming FileDescriptor, access: Access) {
    // The sockets that systemd passes block, and a blocking call would hold up all clients.
    _ = fcntl(descriptor.number, F_SETFL, O_NONBLOCK)
    self.access = access
    self.descriptor = descriptor
  }
}
