import Glibc
public import JSON
public import KeymodeInterface
import SystemCalls
public import Varlink

/// A connection to the daemon. Calls wait for their replies.
public final class Connection {
  /// Which socket to use.
  public enum Endpoint: Sendable {
    /// The one that tells states and changes.
    case state
    /// The one that also takes events.
    case control

    var fileName: String {
      switch self {
      case .state: SocketDirectory.stateSocket
      case .control: SocketDirectory.controlSocket
      }
    }
  }

  private let descriptor: FileDescriptor
  private var incoming = FrameBuffer(limit: 1 << 24)

  /// Connects to the daemon that serves in `directory`.
  public init(_ endpoint: Endpoint, in directory: String) throws(ClientError) {
    descriptor = try Connection.open(endpoint, in: directory)
  }

  /// A connected socket.
  ///
  /// - Parameter flags: of `socket`, such as `SOCK_NONBLOCK`.
  static func open(
    _ endpoint: Endpoint, in directory: String, flags: Int32 = 0
  ) throws(ClientError) -> FileDescriptor {
    let path = "\(directory)/\(endpoint.fileName)"
    do throws(SystemError) {
      return try Connection.connect(path, flags)
    } catch {
      switch error.code {
      // EAGAIN is what a socket that need not be waited for says when too many are waiting already.
      case ENOENT, ECONNREFUSED, ENOTDIR, EAGAIN: throw .noDaemon(path: path)
      case EACCES, EPERM: throw .permissionDenied(path: path, whom: Connection.owner(of: path))
      default: throw .failed("\(error)")
      }
    }
  }

  /// The folder in which a daemon serves, found as every client finds it: the one given, that of
  /// `KEYMODED_SOCKET_DIR`, the user's own if there is a socket in it, the system's.
  public static func directory(_ given: String?) -> String {
    if let directory = given ?? environment(SocketDirectory.variable) { return directory }
    if let runtime = environment("XDG_RUNTIME_DIR") {
      // The folder alone may be left from a daemon that has ended.
      let directory = SocketDirectory.user(runtimeDirectory: runtime)
      if access("\(directory)/\(SocketDirectory.stateSocket)", F_OK) == 0 { return directory }
    }
    return SocketDirectory.system
  }

  /// Whom a socket is for: its group, where that may use it, otherwise its user.
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
    _ path: String, _ flags: Int32
  ) throws(SystemError) -> FileDescriptor {
    var address = sockaddr_un()
    guard address.set(path: path) else {
      throw SystemError("connect to", path, code: ENAMETOOLONG)
    }
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue) | flags
    let descriptor = FileDescriptor(
      owning: try retrying("make", "a socket") { socket(AF_UNIX, type, 0) })
    try retrying("connect to", path) {
      withUnsafePointer(to: &address) { address in
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          Glibc.connect(descriptor.number, address, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
    }
    return descriptor
  }

  /// Sends a call.
  public func send(_ call: Call) {
    var rest = call.message[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { bytes in
        Glibc.send(descriptor.number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
      }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        // The daemon has ended the connection. It may have said why, which comes as a reply.
        return
      }
    }
  }

  /// Waits for the next reply.
  public func receive() throws(ClientError) -> JSON {
    try Connection.parameters(of: nextMessage())
  }

  /// What a reply says.
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
  /// The states now.
  public func state() throws(ClientError) -> StateMessage {
    send(Call(ControllerInterface.getState))
    guard let state = try receive()["state"].flatMap(StateMessage.init) else {
      throw .badReply("without a state")
    }
    return state
  }

  /// Subscribes to changes; each ``nextChanges()`` is then one reply.
  public func subscribe() {
    send(Call(ControllerInterface.monitor, wantsMore: true))
  }

  /// Waits until there is something to receive.
  ///
  /// - Returns: whether there was, before so many milliseconds had passed.
  public func waitForReply(milliseconds: Int32) -> Bool {
    var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
    return incoming.hasMessage || poll(&entry, 1, milliseconds) > 0
  }

  /// The devices that are followed.
  public func devices() throws(ClientError) -> [DeviceMessage] {
    send(Call(ControllerInterface.listDevices))
    return try nextList("devices", of: DeviceMessage.init)
  }

  /// What the machines are.
  public func machines() throws(ClientError) -> [MachineMessage] {
    askForMachines()
    return try nextMachines()
  }

  /// Asks what the machines are; ``nextMachines()`` is the reply.
  public func askForMachines() { send(Call(ControllerInterface.listMachines)) }

  /// Waits for the reply to ``askForMachines()``.
  public func nextMachines() throws(ClientError) -> [MachineMessage] {
    try nextList("machines", of: MachineMessage.init)
  }

  /// How much the daemon has done.
  public func statistics() throws(ClientError) -> StatisticsMessage {
    send(Call(ControllerInterface.getStatistics))
    guard let statistics = StatisticsMessage(try receive()) else {
      throw .badReply("without statistics")
    }
    return statistics
  }

  /// Waits for a list, every element of which must be what the list is said to be of.
  private func nextList<Element>(
    _ name: String, of element: (JSON) -> Element?
  ) throws(ClientError) -> [Element] {
    guard let array = try receive()[name]?.array else { throw .badReply("without \(name)") }
    let elements = array.compactMap(element)
    guard elements.count == array.count else { throw .badReply("with \(name) that are none") }
    return elements
  }

  /// Waits for what a subscriber is sent next.
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
    send(Call(ControllerInterface.trigger, [.init("event", .string(event))]))
    let reply = try receive()
    guard let changed = reply["changed"]?.bool,
      let state = reply["state"].flatMap(StateMessage.init)
    else { throw .badReply("without a state") }
    return (changed, state)
  }
}
