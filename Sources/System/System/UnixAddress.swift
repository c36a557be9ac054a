import Glibc

/// Connects a socket to the socket at `path`. The corresponding C function is `connect`.
///
/// - Parameter operation: what is attempted, for the error.
/// - Throws: if the path is too long, or the error of `connect`.
public func connectSocket(
  _ socket: Int32, to path: String, _ operation: String
) throws(SystemError) {
  try withUnixAddress(path, operation) { connect(socket, $0, $1) }
}

/// Gives a socket the address `path`. The corresponding C function is `bind`.
///
/// - Parameter operation: what is attempted, for the error.
/// - Throws: if the path is too long, or the error of `bind`.
public func bindSocket(
  _ socket: Int32, to path: String, _ operation: String
) throws(SystemError) {
  try withUnixAddress(path, operation) { bind(socket, $0, $1) }
}

private func withUnixAddress(
  _ path: String, _ operation: String, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32
) throws(SystemError) {
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  // All 108 bytes are zero. At least the last byte must stay zero, to end the path.
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

/// A new socket for connections on this machine. Calls on it fail instead of waiting.
///
/// - Parameters:
///   - operation: what the socket is made for, for the error.
///   - path: the address that the socket is made for, for the error.
/// - Throws: the error of `socket`.
public func unixSocket(
  _ operation: String, _ path: String
) throws(SystemError) -> FileDescriptor {
  let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
  return FileDescriptor(owning: try retrying(operation, path) { socket(AF_UNIX, type, 0) })
}
