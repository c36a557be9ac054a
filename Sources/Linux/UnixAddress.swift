public import Glibc
public import Terminal

/// Makes a call that takes the address of a socket in the file system, such as `bind` or `connect`.
///
/// - Parameters:
///   - operation: what is attempted, for the error.
///   - call: receives the address and its size, and returns the result of the system call.
/// - Throws: if the path is too long, or the error of the call.
public func withUnixAddress(
  _ path: String, _ operation: String, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32
) throws(SystemError) {
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  // All bytes are zero so far. The kernel takes up to 107, and one for the NUL.
  guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else {
    throw SystemError(operation, path, code: ENAMETOOLONG)
  }
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
  try retrying(operation, path) {
    withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        call(address, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}

/// A new socket for connections on this machine.
///
/// - Parameters:
///   - operation: what it is made for, for the error.
///   - isNonblocking: whether calls on the socket fail instead of waiting.
/// - Throws: the error of `socket`.
public func unixSocket(
  _ operation: String, _ path: String, isNonblocking: Bool
) throws(SystemError) -> FileDescriptor {
  let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
  let nonblocking = isNonblocking ? Int32(SOCK_NONBLOCK.rawValue) : 0
  return FileDescriptor(
    owning: try retrying(operation, path) { socket(AF_UNIX, type | nonblocking, 0) })
}
