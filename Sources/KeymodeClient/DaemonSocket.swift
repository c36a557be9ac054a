import Glibc
import JSON
import SystemCalls
import Varlink

/// A socket that is connected to the daemon. It sends calls, and cuts what arrives into replies.
///
/// It never waits: ``Connection`` does so by blocking its thread, ``Link`` by suspending its task.
struct DaemonSocket: ~Copyable {
  /// Whether something was sent or read.
  enum Progress { case made, wouldBlock }

  /// The longest reply, in bytes, that is read.
  private static let longestReply = 1 << 24
  private static let bytesAtOnce = 16384

  /// The path of the socket.
  let path: String
  private let descriptor: FileDescriptor
  private var incoming: FrameBuffer

  /// The descriptor, for waiting.
  var number: Int32 { descriptor.number }

  /// Connects to the daemon that serves in `directory`.
  ///
  /// - Parameters:
  ///   - mayWait: whether to wait while the daemon's backlog is full.
  ///   - deadline: when that waiting ends; `nil`: never.
  /// - Throws: ``ClientError/noDaemon(path:)``, ``ClientError/permissionDenied(path:whom:)``,
  ///   ``ClientError/noAnswer(path:)`` if the backlog is full, or ``ClientError/failed(_:)``.
  init(
    _ endpoint: Connection.Endpoint, in directory: String, mayWait: Bool,
    until deadline: SuspendingClock.Instant? = nil
  ) throws(ClientError) {
    // Swift 6.0 destroys twice the properties that are set when the initializer throws.
    let path = endpoint.path(in: directory)
    descriptor = try DaemonSocket.descriptor(path, mayWait, until: deadline)
    self.path = path
    incoming = FrameBuffer(limit: DaemonSocket.longestReply)
  }

  private static func descriptor(
    _ path: String, _ mayWait: Bool, until deadline: SuspendingClock.Instant?
  ) throws(ClientError) -> FileDescriptor {
    do throws(SystemError) {
      return try connect(path, mayWait, until: deadline)
    } catch {
      switch error.code {
      case ENOENT, ECONNREFUSED, ENOTDIR: throw .noDaemon(path: path)
      // The daemon's backlog is full: now, or, with a deadline, until then.
      case EAGAIN: throw .noAnswer(path: path)
      case EACCES, EPERM: throw .permissionDenied(path: path, whom: owner(of: path))
      default: throw .failed("\(error)")
      }
    }
  }

  private static func connect(
    _ path: String, _ mayWait: Bool, until deadline: SuspendingClock.Instant?
  ) throws(SystemError) -> FileDescriptor {
    let operation = "connect to"
    let descriptor = try unixSocket(operation, path, isNonblocking: !mayWait)
    try withUnixAddress(path, operation) { address, size in
      if let deadline { limitWaiting(descriptor.number, until: deadline) }
      return Glibc.connect(descriptor.number, address, size)
    }
    // Only connecting may block.
    _ = fcntl(descriptor.number, F_SETFL, O_NONBLOCK)
    return descriptor
  }

  /// Makes `connect` fail with `EAGAIN` if it still waits at the deadline.
  private static func limitWaiting(_ socket: Int32, until deadline: SuspendingClock.Instant) {
    // A timeout of zero would mean no limit.
    let left = max(SuspendingClock.now.duration(to: deadline), .microseconds(1))
    let (seconds, attoseconds) = left.components
    var time = timeval(
      tv_sec: time_t(clamping: seconds), tv_usec: suseconds_t(attoseconds / 1_000_000_000_000))
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
  }

  /// Who may use a socket: its group if that has write permission, otherwise its user.
  private static func owner(of path: String) -> String? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    if status.st_mode & S_IWGRP != 0 {
      let group = getgrgid(status.st_gid).map { String(cString: $0.pointee.gr_name) }
      return "members of the group '\(group ?? "\(status.st_gid)")'"
    }
    let user = getpwuid(status.st_uid).map { String(cString: $0.pointee.pw_name) }
    return "the user '\(user ?? "\(status.st_uid)")'"
  }

  /// Sends the beginning of `rest`, and removes what was sent.
  func send(_ rest: inout ArraySlice<UInt8>) -> Progress {
    // If the daemon has closed the connection, a reply that it sent before can still be read.
    (try? sendSome(&rest, to: number)) == false ? .wouldBlock : .made
  }

  /// Reads bytes of replies. Throws ``ClientError/connectionLost`` if there will be no more.
  mutating func read() throws(ClientError) -> Progress {
    let result = try? readSome(from: number, upTo: Self.bytesAtOnce) { incoming.append($0) }
    switch result {
    case .bytes: return .made
    case .wouldBlock: return .wouldBlock
    case .end, nil: throw .connectionLost
    }
  }

  /// The parameters of the next reply that has been read; `nil` if it has not been read completely.
  ///
  /// - Throws: ``ClientError/refused(name:parameters:)`` if the reply is an error, and
  ///   ``ClientError/badReply(_:)`` if it is invalid or too long.
  mutating func nextReply() throws(ClientError) -> JSON? {
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
