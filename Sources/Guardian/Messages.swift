import Glibc
import SystemCalls

/// An order to the guardian, as one packet.
enum Order: Hashable {
  /// Start the command with these variables, each `NAME=value`, besides the inherited ones.
  case start([String])
  /// End the command and all its descendants, by this signal first.
  case end(Int32)
  /// Pass this signal on to the command's process group.
  case pass(Int32)

  /// The size of the largest packet, in bytes.
  static let limit = 65_536

  var packet: [UInt8] {
    switch self {
    case .start(let variables):
      // A NUL inside a value would begin a variable of another name.
      return [UInt8(ascii: "s")]
        + variables.flatMap { $0.utf8.prefix { $0 != 0 } + [0] }
    case .end(let signal): return [UInt8(ascii: "e"), UInt8(truncatingIfNeeded: signal)]
    case .pass(let signal): return [UInt8(ascii: "p"), UInt8(truncatingIfNeeded: signal)]
    }
  }

  /// The order in a packet; `nil` if there is none.
  init?(_ packet: some Collection<UInt8>) {
    let rest = packet.dropFirst()
    switch (packet.first, rest.count) {
    case (UInt8(ascii: "s"), _):
      self = .start(rest.split(separator: 0).map { String(decoding: $0, as: UTF8.self) })
    case (UInt8(ascii: "e"), 1): self = .end(rest.reduce(0) { $0 + Int32($1) })
    case (UInt8(ascii: "p"), 1): self = .pass(rest.reduce(0) { $0 + Int32($1) })
    default: return nil
    }
  }
}

/// A report of the guardian, as one packet.
enum Report: Hashable {
  /// The command runs; its first process, and its process group, has this ID.
  case started(Int32)
  /// The command could not be started, for this `errno`.
  case failed(Int32)
  /// The command has ended, and nothing of it is left. The status is that of `waitpid`.
  case ended(Int32)

  var packet: [UInt8] {
    let (kind, number): (Character, Int32) =
      switch self {
      case .started(let process): ("s", process)
      case .failed(let code): ("f", code)
      case .ended(let status): ("e", status)
      }
    return Array("\(kind)\(number)".utf8)
  }

  /// The report in a packet; `nil` if there is none.
  init?(_ packet: some Collection<UInt8>) {
    guard let kind = packet.first,
      let number = Int32(String(decoding: packet.dropFirst(), as: UTF8.self))
    else { return nil }
    switch kind {
    case UInt8(ascii: "s"): self = .started(number)
    case UInt8(ascii: "f"): self = .failed(number)
    case UInt8(ascii: "e"): self = .ended(number)
    default: return nil
    }
  }
}

/// One end of the connection between a guardian and its client: a socket that keeps packets apart.
struct PacketSocket: ~Copyable {
  private let descriptor: FileDescriptor

  enum Received<Message> {
    case message(Message)
    /// Nothing yet.
    case nothing
    /// The other end is closed.
    case end
  }

  var number: Int32 { descriptor.number }

  init(owning descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

  /// Sends one packet, and waits while the other end has read too few.
  ///
  /// - Throws: the error of `send`, except `EINTR`; `EPIPE` if the other end is closed.
  func send(_ packet: [UInt8]) throws(SystemError) {
    try retrying("send") { Glibc.send(number, packet, packet.count, Int32(MSG_NOSIGNAL)) }
  }

  /// The next packet, without waiting. Packets that are no message are skipped.
  func next<Message>(_ message: (ArraySlice<UInt8>) -> Message?) -> Received<Message> {
    var buffer = [UInt8](repeating: 0, count: Order.limit)
    while true {
      let count = recv(number, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      switch count {
      case 1...: if let message = message(buffer[..<count]) { return .message(message) }
      case 0: return .end
      default:
        if errno == EAGAIN { return .nothing }
        if errno != EINTR { return .end }
      }
    }
  }
}
