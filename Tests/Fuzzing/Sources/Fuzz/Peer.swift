import Glibc
import System

/// A socket that listens where no file is, so that nothing of it is left behind.
struct Listener {
  let number: Int32
  private var address = sockaddr_un()
  private var length = socklen_t(MemoryLayout<sockaddr_un>.size)

  init() {
    number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    address.sun_family = sa_family_t(AF_UNIX)
    let socket = number
    // Without a name, the kernel finds one.
    let family = socklen_t(MemoryLayout<sa_family_t>.size)
    let bound = Self.with(&address) { bind(socket, $0, family) }
    var length = length
    let named = Self.with(&address) { getsockname(socket, $0, &length) }
    self.length = length
    require(
      bound == 0 && named == 0 && listen(socket, SOMAXCONN) == 0, "no socket can be made")
  }

  /// A new connection to it.
  func connected() -> FileDescriptor {
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let descriptor = FileDescriptor(owning: socket(AF_UNIX, type, 0))
    var address = address
    let socket = descriptor.number
    let result = Self.with(&address) { connect(socket, $0, length) }
    require(result == 0, "a client cannot connect")
    return descriptor
  }

  private static func with(
    _ address: inout sockaddr_un, _ body: (UnsafeMutablePointer<sockaddr>) -> Int32
  ) -> Int32 {
    withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
    }
  }
}

/// A client, which sends what it is told and reads when it is told.
final class Peer {
  let isControl: Bool
  private var descriptor: FileDescriptor?
  /// What the kernel took from it.
  private(set) var sent: [UInt8] = []
  /// What the kernel has yet to take.
  private var waiting: ArraySlice<UInt8> = []
  private(set) var received: [UInt8] = []
  /// Whether the server has closed the connection.
  private(set) var isClosed = false
  private(set) var hasEnded = false
  /// Whether the kernel would not take all at once.
  private(set) var wasHeldUp = false

  init(_ listener: Listener, isControl: Bool) {
    self.isControl = isControl
    descriptor = listener.connected()
  }

  var hasLeft: Bool { descriptor == nil }

  /// The memory that is this client's, not the server's.
  var footprint: Int { sent.capacity + received.capacity + waiting.count }

  func send(_ bytes: ArraySlice<UInt8>) {
    guard !hasEnded, !hasLeft else { return }
    waiting += bytes
    push()
  }

  /// Sends what had to wait.
  func push() {
    while let number = descriptor?.number, !waiting.isEmpty {
      let count = waiting.withUnsafeBytes {
        Glibc.send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0 {
        if errno == EAGAIN { wasHeldUp = true } else { waiting = [] }
        return
      }
      sent += waiting.prefix(count)
      waiting = waiting.dropFirst(count)
    }
  }

  /// - Returns: whether there was anything.
  @discardableResult
  func read() -> Bool {
    guard let number = descriptor?.number else { return false }
    let before = received.count
    while true {
      let count = withUnsafeTemporaryAllocation(byteCount: 16384, alignment: 1) { buffer in
        let count = recv(number, buffer.baseAddress, buffer.count, 0)
        if count > 0 { received += buffer[..<count] }
        return count
      }
      if count <= 0 {
        if count == 0 || errno != EAGAIN { isClosed = true }
        return received.count > before
      }
    }
  }

  func endSending() {
    guard let number = descriptor?.number, waiting.isEmpty else { return }
    hasEnded = true
    shutdown(number, Int32(SHUT_WR))
  }

  func leave() { descriptor = nil }
}
