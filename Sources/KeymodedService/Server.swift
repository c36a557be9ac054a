import Glibc
import KeymodeInterface
import SystemCalls
import Systemd
import Varlink

/// Accepts connections, and tells subscribers of changes.
final class Server {
  /// How many clients are served at once.
  struct Limits {
    var clients = 512
    /// How many of them are kept for the control socket.
    var keptForControl = 16
  }

  /// From how many clients on the memory that they took is given back when most have gone.
  private static let crowd = 32

  private struct Listener {
    let socket: ListeningSocket
    let source: EventSource
  }

  private let loop: EventLoop
  private let service: ModeService
  private var methods: ControllerMethods
  private let limits: Limits
  private var listeners: [Listener] = []
  /// Those connected, in the order in which they came: whoever came first is told first.
  private var clients: [(id: Int, client: Client)] = []
  private var accepted = 0
  /// How many clients there were at most since memory was last given back.
  private var mostClients = 0
  private var retry: EventSource?

  init(
    _ loop: EventLoop, _ service: ModeService, limits: Limits = Limits()
  ) throws(SystemError) {
    self.loop = loop
    self.service = service
    self.limits = limits
    methods = ControllerMethods(service) { 0 }
    retry = try loop.addTimer { [unowned self] in
      for listener in listeners { listener.source.enable() }
    }
    methods = ControllerMethods(service) { [unowned self] in clients.count }
  }

  /// Serves whoever connects to `socket`.
  func listen(on socket: ListeningSocket) throws(SystemError) {
    let source = try loop.addIO(socket.number, .readable) { [unowned self] _ in accept(from: socket)
    }
    if socket.access == .control { source.take(.early) }
    listeners.append(Listener(socket: socket, source: source))
  }

  /// Tells subscribers of the changes that they do not have.
  func publish() {
    for (_, client) in clients { client.publish() }
  }

  private func accept(from socket: ListeningSocket) {
    let number = Glibc.accept(socket.number, nil, nil)
    guard number >= 0 else {
      switch errno {
      case EMFILE, ENFILE, ENOBUFS, ENOMEM: pause()
      default: break  // whoever wanted to connect has gone again
      }
      return
    }
    let descriptor = FileDescriptor(owning: number)
    guard fcntl(number, F_SETFL, O_NONBLOCK) == 0, bound(number) else { return }
    let limit = limits.clients - (socket.access == .control ? 0 : limits.keptForControl)
    guard clients.count < limit else { return turnAway(number) }
    accepted += 1
    let id = accepted
    let client = try? Client(
      descriptor, access: socket.access, loop: loop, methods: methods, service: service
    ) { [unowned self] in letGo(id) }
    guard let client else { return }
    clients.append((id, client))
    mostClients = max(mostClients, clients.count)
  }

  private func letGo(_ id: Int) {
    clients.removeAll { $0.id == id }
    // What a crowd took is not kept for the next one. Whoever comes and goes alone does not cost this.
    if mostClients >= Self.crowd, clients.count <= mostClients / 4 {
      releaseFreeMemory()
      mostClients = clients.count
    }
    // Whoever waits for a descriptor can have this one.
    for listener in listeners { listener.source.enable() }
  }

  /// Says why, as an answer to whatever will have been asked. A new socket has room for it.
  private func turnAway(_ socket: Int32) {
    _ = Reply(error: ControllerInterface.tooManyClients).message.withUnsafeBytes { bytes in
      send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    }
  }

  /// What waits in the kernel to be read by a client counts as memory of the daemon, so the kernel's
  /// generous default is reduced.
  ///
  /// - Returns: whether that went well.
  private func bound(_ socket: Int32) -> Bool {
    var size: Int32 = 16384
    return setsockopt(
      socket, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size)) == 0
  }

  /// Without descriptors left, the connection that waits would wake the loop for ever. It is left
  /// to wait for a second.
  private func pause() {
    for listener in listeners { listener.source.disable() }
    retry?.set(at: UInt64(microsecondsSinceBoot() + 1_000_000))
  }
}
