import Glibc
public import JSON
public import KeymodeInterface
import SystemCalls
public import Varlink

/// A connection to the daemon whose calls block. The deadline bounds all waiting: to connect, to
/// send, and for the last byte of a reply.
public final class Connection {
  /// How long a client usually waits for an answer that the daemon gives at once.
  public static let usualPatience = Duration.seconds(5)

  /// Which socket to use.
  public enum Endpoint: Sendable {
    /// The socket for reading states and changes.
    case state
    /// The socket that also accepts events.
    case control

    func path(in directory: String) -> String {
      switch self {
      case .state: "\(directory)/\(SocketDirectory.stateSocket)"
      case .control: "\(directory)/\(SocketDirectory.controlSocket)"
      }
    }
  }

  private let descriptor: FileDescriptor
  private let path: String
  private var incoming = FrameBuffer(limit: 1 << 24)

  /// When waiting ends with ``ClientError/noAnswer(path:)``; `nil`: never.
  public var deadline: SuspendingClock.Instant?

  /// Connects to the daemon that serves in `directory`.
  ///
  /// - Throws: ``ClientError/noDaemon(path:)``, ``ClientError/permissionDenied(path:whom:)``,
  ///   ``ClientError/noAnswer(path:)`` if the daemon's backlog is full until the deadline, or
  ///   ``ClientError/failed(_:)``.
  public init(
    _ endpoint: Endpoint, in directory: String, until deadline: SuspendingClock.Instant?
  ) throws(ClientError) {
    path = endpoint.path(in: directory)
    self.deadline = deadline
    descriptor = try Connection.open(path, until: deadline)
  }

  /// A connected socket.
  ///
  /// - Parameter isNonblocking: whether calls on it fail with `EAGAIN` instead of blocking.
  static func open(
    _ path: String, isNonblocking: Bool = false, until deadline: SuspendingClock.Instant? = nil
  ) throws(ClientError) -> FileDescriptor {
    do throws(SystemError) {
      return try Connection.connect(path, isNonblocking, until: deadline)
    } catch {
      switch error.code {
      case ENOENT, ECONNREFUSED, ENOTDIR: throw .noDaemon(path: path)
      // The daemon's backlog is full: now, or, with a deadline, until then.
      case EAGAIN: throw .noAnswer(path: path)
      case EACCES, EPERM: throw .permissionDenied(path: path, whom: Connection.owner(of: path))
      default: throw .failed("\(error)")
      }
    }
  }

  /// The directory of the daemon's sockets, by the rule that every client follows: the one given,
  /// else that of `KEYMODED_SOCKET_DIR`, else the user's own if it has a socket, else the system's.
  public static func directory(_ given: String?) -> String {
    if let directory = given ?? environment(SocketDirectory.variable) { return directory }
    if let runtime = environment("XDG_RUNTIME_DIR") {
      // A daemon that has ended may have left the directory.
      let directory = SocketDirectory.user(runtimeDirectory: runtime)
      if access("\(directory)/\(SocketDirectory.stateSocket)", F_OK) == 0 { return directory }
    }
    return SocketDirectory.system
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
    return "the user '\(user ?? "\(status.st_uid)")' alone"
  }

  private static func connect(
    _ path: String, _ isNonblocking: Bool, until deadline: SuspendingClock.Instant?
  ) throws(SystemError) -> FileDescriptor {
    let operation = "connect to"
    let descriptor = try unixSocket(operation, path, isNonblocking: isNonblocking)
    try withUnixAddress(path, operation) { address, size in
      if let deadline { limitWaiting(descriptor.number, until: deadline) }
      return Glibc.connect(descriptor.number, address, size)
    }
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

  /// Waits until `poll` reports one of these events.
  private func wait(for events: Int32) throws(ClientError) {
    while true {
      let left = deadline.map { SuspendingClock.now.milliseconds(to: $0) }
      if left == 0 { throw .noAnswer(path: path) }
      var entry = pollfd(fd: descriptor.number, events: Int16(events), revents: 0)
      let count = poll(&entry, 1, left ?? -1)
      if count > 0 { return }
      if count < 0, errno != EINTR { throw .failed("\(SystemError.last("poll"))") }
    }
  }

  /// Sends a call.
  ///
  /// - Throws: ``ClientError/noAnswer(path:)`` if the daemon does not read the call in time.
  public func send(_ call: Call) throws(ClientError) {
    var rest = call.message[...]
    let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { bytes in
        Glibc.send(descriptor.number, bytes.baseAddress, bytes.count, flags)
      }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        try wait(for: POLLOUT)
      } else if errno != EINTR {
        // The daemon has closed the connection. If it sent an error before, `receive` throws that.
        return
      }
    }
  }

  /// Waits for the next reply, and returns its parameters.
  ///
  /// - Throws: ``ClientError/refused(name:parameters:)`` if the reply is an error.
  public func receive() throws(ClientError) -> JSON {
    try Connection.parameters(of: nextMessage())
  }

  /// The parameters of a reply. Throws if the reply is an error.
  static func parameters(of message: [UInt8]) throws(ClientError) -> JSON {
    let reply: Reply
    do { reply = try Reply(parsing: message) } catch { throw .badReply("with \(error)") }
    guard let name = reply.error else { return reply.parameters }
    throw .refused(name: name, parameters: reply.parameters)
  }

  private func nextMessage() throws(ClientError) -> [UInt8] {
    var chunk = [UInt8](repeating: 0, count: 16384)
    while true {
      do {
        if let message = try incoming.next() { return message }
      } catch {
        throw .badReply("with a message that is too long")
      }
      try wait(for: POLLIN)
      let result: Result<ReadResult, SystemError> = chunk.withUnsafeMutableBytes { bytes in
        Result { () throws(SystemError) in try readSome(from: descriptor.number, into: bytes) }
      }
      guard case .success(.bytes(let count)) = result else { throw .connectionLost }
      chunk.withUnsafeBytes { incoming.append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
  }
}

// MARK: - The interface

extension Connection {
  /// Asks for the present states.
  public func state() throws(ClientError) -> StateMessage {
    try send(Call(ControllerInterface.getState))
    guard let state = try receive()["state"].flatMap(StateMessage.init) else {
      throw .badReply("without a state")
    }
    return state
  }

  /// Subscribes to changes; ``nextChanges()`` then returns one reply at a time.
  public func subscribe() throws(ClientError) {
    try send(Call(ControllerInterface.monitor, wantsMore: true))
  }

  /// Asks for the devices that the daemon follows.
  public func devices() throws(ClientError) -> [DeviceMessage] {
    try send(Call(ControllerInterface.listDevices))
    return try nextList("devices", of: DeviceMessage.init)
  }

  /// Asks for the states, events and transitions of both machines.
  public func machines() throws(ClientError) -> [MachineMessage] {
    try send(Call(ControllerInterface.listMachines))
    return try nextList("machines", of: MachineMessage.init)
  }

  /// Asks for the statistics of the daemon.
  public func statistics() throws(ClientError) -> StatisticsMessage {
    try send(Call(ControllerInterface.getStatistics))
    guard let statistics = StatisticsMessage(try receive()) else {
      throw .badReply("without statistics")
    }
    return statistics
  }

  /// Waits for a reply with a list of this name. Throws if one of its elements is invalid.
  private func nextList<Element>(
    _ name: String, of element: (JSON) -> Element?
  ) throws(ClientError) -> [Element] {
    guard let array = try receive()[name]?.array else { throw .badReply("without \(name)") }
    let elements = array.compactMap(element)
    guard elements.count == array.count else { throw .badReply("with \(name) that are none") }
    return elements
  }

  /// Waits for the next reply after ``subscribe()``.
  public func nextChanges() throws(ClientError) -> MonitorMessage {
    guard let message = MonitorMessage(try receive()) else {
      throw .badReply("without states and changes")
    }
    return message
  }

  /// Sends an event.
  ///
  /// - Returns: whether it changed anything, and the states after it.
  public func trigger(
    _ event: String
  ) throws(ClientError) -> (changed: Bool, state: StateMessage) {
    try send(Call(ControllerInterface.trigger, [.init("event", .string(event))]))
    let reply = try receive()
    guard let changed = reply["changed"]?.bool,
      let state = reply["state"].flatMap(StateMessage.init)
    else { throw .badReply("without a state") }
    return (changed, state)
  }
}
