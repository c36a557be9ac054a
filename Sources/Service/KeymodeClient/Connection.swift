import Glibc
import System
import Terminal
import Wire

/// A connection to the daemon. It sends calls, and cuts the received bytes into replies.
///
/// It never waits. When ``descriptor`` is readable, call ``read()``, and then call ``nextReply()``
/// until the result is `nil`.
final class Connection {
  /// The maximum length of a reply, in bytes.
  private static let maxReplyBytes = 1 << 24
  private static let bytesPerRead = 16384

  /// The path of the socket.
  let path: String
  private let socket: FileDescriptor
  private var incoming = FrameBuffer(limit: maxReplyBytes)

  /// The descriptor to wait on for reading.
  var descriptor: Int32 { socket.number }

  private init(_ path: String, _ socket: consuming FileDescriptor) {
    self.path = path
    self.socket = socket
  }

  /// Connects to a socket of the daemon that serves in `directory`. If the user may not use the
  /// state socket, but may use the control socket, connects to the control socket instead.
  ///
  /// - Throws: ``ClientError/noDaemon(path:)``, ``ClientError/permissionDenied(path:group:)``,
  ///   ``ClientError/noAnswer(path:)`` if the backlog is full, or ``ClientError/failed(_:)``.
  static func to(_ endpoint: Endpoint, in directory: String) throws(ClientError) -> Connection {
    do throws(ClientError) {
      return try to(endpoint.path(in: directory))
    } catch {
      guard endpoint == .state, case .permissionDenied = error,
        let connection = try? to(Endpoint.control.path(in: directory))
      else { throw error }
      return connection
    }
  }

  private static func to(_ path: String) throws(ClientError) -> Connection {
    do throws(SystemError) {
      let socket = try unixSocket("connect to", path)
      try connectSocket(socket.number, to: path, "connect to")
      return Connection(path, socket)
    } catch {
      switch error.code {
      case ENOENT, ECONNREFUSED, ENOTDIR: throw .noDaemon(path: path)
      // The socket's backlog, which holds thousands of connections, is full.
      case EAGAIN: throw .noAnswer(path: path)
      case EACCES, EPERM: throw .permissionDenied(path: path, group: groupName(ofSocket: path))
      default: throw .failed("\(error)")
      }
    }
  }

  /// Sends a call. The socket has room for any call that the daemon would read; a larger call ends
  /// in ``ClientError/noAnswer(path:)``.
  func send(_ call: Call) throws(ClientError) {
    var rest = call.message[...]
    // A closed connection is no error here: the daemon's last reply can still be read.
    if (try? sendSome(&rest, to: descriptor)) == false { throw .noAnswer(path: path) }
  }

  /// Reads the bytes that have arrived. Throws ``ClientError/connectionLost`` if no more can come.
  func read() throws(ClientError) {
    let result = try? readSome(from: descriptor, upTo: Self.bytesPerRead) { incoming.append($0) }
    switch result {
    case .bytes, .wouldBlock: return
    case .end, nil: throw .connectionLost
    }
  }

  /// The parameters of the next reply; `nil` if no whole reply has been read.
  ///
  /// - Throws: ``ClientError/refused(name:parameters:)`` if the reply is an error, and
  ///   ``ClientError/badReply(_:)`` if it is invalid or too long.
  func nextReply() throws(ClientError) -> JSON? {
    let message: [UInt8]?
    do { message = try incoming.next() } catch {
      throw .badReply("it is too long")
    }
    guard let message else { return nil }
    let reply: Reply
    do { reply = try Reply(parsing: message) } catch { throw .badReply("\(error)") }
    guard let name = reply.error else { return reply.parameters }
    throw .refused(name: name, parameters: reply.parameters)
  }
}

/// Which of the daemon's sockets to use.
enum Endpoint {
  /// The socket for reading states and changes.
  case state
  /// The socket that also accepts events.
  case control

  func path(in directory: String) -> String {
    let name = self == .state ? SocketDirectory.stateSocket : SocketDirectory.controlSocket
    return "\(directory)/\(name)"
  }
}

/// The group whose members may use a socket; `nil` if no group may. Several threads may call this
/// at once.
func groupName(ofSocket path: String) -> String? {
  var status = stat()
  guard stat(path, &status) == 0, status.st_mode & S_IWGRP != 0 else { return nil }
  var (entry, found) = (Glibc.group(), UnsafeMutablePointer<Glibc.group>?.none)
  // The buffer also receives the names of the group's members, which may be thousands.
  for size in [1 << 10, 1 << 20] {
    let name = withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { buffer in
      getgrgid_r(status.st_gid, &entry, buffer.baseAddress, size, &found)
      return found.map { String(cString: $0.pointee.gr_name) }
    }
    if let name { return name }
  }
  return nil
}
